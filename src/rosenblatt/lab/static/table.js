// @ts-check
/** Tables: the rows where they are not in a plane, the weights before and after a trial, and the log of all trials. */
import { classMark, make, short } from "./elements.js";
import { className, colourOf, coordinateName, epochOf, rowOf, scoresAt, weightsOf, winnerOf } from "./frames.js";

import { problemIndex } from "./narrate.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */

const ROW_HEIGHT = 26;
const MOST_WEIGHTS = 12;
const MOST_ROWS = 200;
const MOST_COLUMNS = 12;

/** @param {number} j @param {number} width @param {Run} run */
const weightName = (j, width, run) =>
  j === width - 1 ? "b" : width === 3 ? `w[${j + 1}]` : coordinateName(run.about.columns?.[j] ?? `w${j + 1}`);

/** @param {Run} run @param {number} label */
const shownName = (run, label) => className(run, label).replace(/^-(?=\d)/, "\u2212");

/**
 * Create the table of the rows, with their scores under the weights of a trial, and a new row to try.
 * @param {Element} host
 * @param {((row: number) => void) | undefined} hover
 */
export function rowsView(host, hover) {
  const head = make("tr");
  const body = make("tbody");
  const fresh = make("tr", { class: "new" });
  const table = make(
    "table",
    { class: "numbers rows" },
    make("caption", { class: "unseen" }, "The rows, with f(x) under the weights of this trial"),
    make("thead", {}, head),
    body,
    make("tfoot", {}, fresh),
  );
  const answer = { f: make("td"), won: make("td"), text: make("p", { class: "soft", role: "status" }) };
  const box = host.appendChild(
    make("div", { class: "rows-box", tabindex: 0, role: "region", "aria-label": "Rows" }, table, answer.text),
  );
  /** @type {Run | null} */
  let run = null;
  /** @type {Frame | null} */
  let shown = null;
  /** @type {{line: HTMLTableRowElement, f: HTMLTableCellElement, won: HTMLTableCellElement}[]} */
  let lines = [];
  /** @type {number[]} */
  let tried = [];

  /** @param {number} value @param {number} j @param {boolean} binary */
  function input(value, j, binary) {
    const label = `${coordinateName(run?.about.names[j] ?? "")} of the new row`;
    const change = () => {
      tried[j] = binary ? Number(box.checked) : Number(box.value) || 0;
      showNew();
    };
    /** @type {HTMLInputElement} */
    const box = binary
      ? make("input", { type: "checkbox", checked: Boolean(value), "aria-label": label, onchange: change })
      : make("input", { type: "number", step: "any", value, "aria-label": label, oninput: change });
    return make("td", {}, box);
  }

  /** Show the score and the class of the new row, and its distance from the hyperplane. */
  function showNew() {
    if (!run || !shown) return;
    const scores = scoresAt(run, shown, tried);
    if (!scores) return;
    const length = Math.hypot(...Array.from(shown.w).slice(0, -1));
    const far =
      run.k === 1 && length ? `, at distance ${short(Math.abs(scores.f[0]) / length)} from the hyperplane` : "";
    const zero = scores.f.every((v) => v === 0);
    answer.f.textContent = scores.f.map((v) => short(v)).join(", ");
    answer.won.textContent = zero ? "tie" : shownName(run, winnerOf(run, scores.f));
    const verdict = zero ? "a tie" : `class ${answer.won.textContent}${far}`;
    answer.text.textContent = `A new row x\u2032: f(x\u2032) = ${answer.f.textContent}, ${verdict}.`;
  }

  return {
    box,
    /** @param {Run} next */
    load(next) {
      const same = run?.d === next.d && run.about.names.join() === next.about.names.join();
      run = next;
      const names = next.about.names.slice(0, MOST_COLUMNS).map(coordinateName);
      const more = next.d > MOST_COLUMNS ? [make("th", { scope: "col" }, "\u2026")] : [];
      head.replaceChildren(
        make("td"),
        ...names.map((name) => make("th", { scope: "col" }, name)),
        ...more,
        ...["y", "f(x)", "class"].map((name) => make("th", { scope: "col" }, name)),
      );
      lines = Array.from({ length: Math.min(next.n, MOST_ROWS) }, (_, i) => {
        const cells = Array.from(rowOf(next, i)).slice(0, MOST_COLUMNS);
        const [f, won] = [make("td"), make("td")];
        const line = make(
          "tr",
          { onpointerenter: () => hover?.(i), onpointerleave: () => hover?.(-1) },
          make("th", { scope: "row" }, classMark(colourOf(next, next.y[i])), ` x${i + 1}`),
          ...cells.map((v) => make("td", { class: v ? "" : "nil" }, short(v))),
          ...more.map(() => make("td")),
          make("td", {}, shownName(next, next.y[i])),
          f,
          won,
        );
        return { line, f, won };
      });
      body.replaceChildren(...lines.map(({ line }) => line));
      if (!same) tried = new Array(next.d).fill(0).map((_, j) => Number(j < 2));
      const binary = next.X.every((v) => v === 0 || v === 1);
      fresh.replaceChildren(
        make("th", { scope: "row" }, "new x\u2032"),
        ...names.map((_, j) => input(tried[j], j, binary)),
        ...more.map(() => make("td")),
        make("td"),
        answer.f,
        answer.won,
      );
    },
    /** @param {Frame} frame */
    show(frame) {
      shown = frame;
      const now = run;
      if (!now) return;
      lines.forEach(({ line, f, won }, i) => {
        const scores = scoresAt(now, frame, rowOf(now, i))?.f;
        const zero = !scores || scores.every((v) => v === 0);
        f.textContent = scores ? scores.map((v) => short(v)).join(", ") : "";
        won.textContent = zero ? "tie" : shownName(now, winnerOf(now, scores));
        const right = scores && !zero && winnerOf(now, scores) === now.y[i];
        line.className = `${i === frame.row ? "here " : ""}${right ? "" : "wrong"}`;
      });
      showNew();
    },
    /** @param {number} row */
    hover(row) {
      for (const [i, { line }] of lines.entries()) line.classList.toggle("lit", i === row);
    },
  };
}

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
        const name = weightName(j, next.width, next) + (next.k > 1 ? ` of ${problemIndex(next, p).slice(1)}` : "");
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
