// @ts-check
/** Tables: the weights before and after a trial, and the log of all trials, which creates only the visible rows. */
import { make, short } from "./elements.js";
import { epochOf, weightsOf } from "./frames.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */

const ROW_HEIGHT = 26;
const MOST_WEIGHTS = 12;

/** @param {number} j @param {number} width @param {Run} run */
const weightName = (j, width, run) =>
  j === width - 1 ? "b" : width === 3 ? `w${j + 1}` : (run.about.columns?.[j] ?? `w${j + 1}`);

/**
 * Create the table of weights.
 * @param {Element} host
 */
export function weightsTable(host) {
  const body = make("tbody");
  const heads = ["", "before", "change", "now"].map((text) => (text ? make("th", { scope: "col" }, text) : make("td")));
  const table = make(
    "table",
    { class: "numbers" },
    make("caption", {}, "Weights"),
    make("thead", {}, make("tr", {}, ...heads)),
    body,
  );
  host.append(table);
  /** @type {Run | null} */
  let run = null;
  /** @type {HTMLTableCellElement[][]} */
  let cells = [];
  return {
    /** @param {Run} next */
    load(next) {
      run = next;
      table.hidden = next.slot !== undefined;
      const lines = Math.min(MOST_WEIGHTS, next.k * next.width);
      cells = Array.from({ length: lines }, () => [make("td"), make("td", { class: "change" }), make("td")]);
      const rows = cells.map((line, i) => {
        const [p, j] = [Math.floor(i / next.width), i % next.width];
        const name = weightName(j, next.width, next) + (next.k > 1 ? ` of ${p + 1}` : "");
        return make("tr", {}, make("th", { scope: "row" }, name), ...line);
      });
      body.replaceChildren(...rows);
    },
    /** @param {Frame} frame */
    show(frame) {
      cells.forEach(([before, change, now], i) => {
        if (!run) return;
        const [p, j] = [Math.floor(i / run.width), i % run.width];
        const [w, old] = [weightsOf(run, frame.state, p)[j], weightsOf(run, frame.before, p)[j]];
        before.textContent = short(old);
        change.textContent = w === old ? "" : (w > old ? "+" : "") + short(w - old);
        now.textContent = short(w);
      });
    },
  };
}

/**
 * Create the log of trials; a click on a trial goes there.
 * @param {Element} host
 * @param {(t: number) => void} go
 */
export function trialsLog(host, go) {
  const head = make("div", { class: "log-row head", "aria-hidden": "true" });
  head.append(...["trial", "epoch", "row", "y f(x)", "loss", ""].map((text) => make("span", {}, text)));
  const space = make("div", { class: "log-space" });
  const scroll = make("div", { class: "log", tabindex: 0, role: "region", "aria-label": "All trials" }, space);
  host.append(head, scroll);
  /** @type {Run | null} */
  let run = null;
  let at = 0;
  let row = -1;

  /** @param {number} t */
  function line(t) {
    const now = /** @type {Run} */ (run);
    const i = now.row[t - 1];
    const bits = now.mistake[t - 1];
    const columns = now.score.length / now.trials;
    const sign = i < 0 ? 0 : (now.about.signs[now.y[i]]?.[0] ?? 0);
    const margin = i < 0 ? "" : columns > 1 ? "" : short(sign * now.score[t - 1]);
    const what = bits & 1 ? "mistake" : bits & 2 ? "update" : "";
    const values = [t, epochOf(now, t), i < 0 ? "all" : `x${i + 1}`, margin, short(now.loss[t - 1]), what];
    const kind = `log-row${t === at ? " here" : ""}${what ? ` ${what}` : ""}${i === row && i >= 0 ? " lit" : ""}`;
    const said = `trial ${t}, ${values[2]}${what ? `, ${what}` : ""}`;
    const entry = make("button", {
      type: "button",
      class: kind,
      "aria-label": said,
      tabindex: -1,
      onclick: () => go(t),
    });
    entry.append(...values.map((v) => make("span", {}, String(v))));
    return entry;
  }

  function fill() {
    if (!run || !scroll.offsetParent) return;
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - 5);
    const count = Math.ceil(scroll.clientHeight / ROW_HEIGHT) + 10;
    const last = Math.min(run.trials, first + count);
    space.style.setProperty("height", `${run.trials * ROW_HEIGHT}px`);
    const lines = [];
    for (let t = first + 1; t <= last; t++) lines.push(line(t));
    const pad = make("div");
    pad.style.setProperty("height", `${first * ROW_HEIGHT}px`);
    space.replaceChildren(pad, ...lines);
  }
  scroll.addEventListener("scroll", fill);

  return {
    fill,
    /** @param {Run} next */
    load(next) {
      run = next;
      fill();
    },
    /** @param {Frame} frame */
    show(frame) {
      at = frame.t;
      if (!scroll.offsetParent) return;
      const top = (frame.t - 1) * ROW_HEIGHT;
      if (top < scroll.scrollTop || top > scroll.scrollTop + scroll.clientHeight - ROW_HEIGHT) {
        scroll.scrollTop = Math.max(0, top - scroll.clientHeight / 2);
      }
      fill();
    },
    /** @param {number} hovered */
    hover(hovered) {
      row = hovered;
      fill();
    },
  };
}
