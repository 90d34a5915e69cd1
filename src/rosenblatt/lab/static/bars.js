// @ts-check
/** Bars: the coefficients of the rows of a kernel learner, or the weights of mapped features, the largest first. */
import { assign, draw, short } from "./elements.js";
import { colourOf } from "./frames.js";
import { SIDE } from "./plane.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */

const MOST_BARS = 20;
const HEIGHT = 22;
const LEFT = 64;
const ROOM = SIDE - LEFT - 60;

/** @param {Element} host */
export function barsView(host) {
  const svg = draw("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, class: "plane bars", role: "img" }, host);
  const body = draw("g", {}, svg);
  const bars = Array.from({ length: MOST_BARS }, (_, k) => {
    const y = 10 + k * HEIGHT;
    return {
      bar: draw("rect", { x: LEFT, y, height: HEIGHT - 7, width: 0 }, body),
      name: draw("text", { x: LEFT - 8, y: y + 12, class: "tick end" }, body),
      value: draw("text", { x: LEFT, y: y + 12, class: "tick" }, body),
      row: -1,
    };
  });
  /** @type {Run | null} */
  let run = null;

  /**
   * Return numbers with their names and classes, the largest first.
   * @param {Frame} frame
   */
  function entries(frame) {
    if (frame.alpha && run) {
      const now = run;
      const all = Array.from(frame.alpha, (value, i) => ({
        value,
        name: `x${i + 1}`,
        kind: colourOf(now, now.y[i]),
        row: i,
      }));
      return all.filter((entry) => entry.value !== 0);
    }
    const last = frame.w.length - 1;
    return Array.from(frame.w, (value, j) => {
      const name = j === last ? "b" : (run?.about.columns?.[j] ?? `w${j + 1}`);
      return { value, name, kind: value > 0 ? 1 : 0, row: -1 };
    });
  }

  return {
    svg,
    /** @param {Run} next */
    load(next) {
      run = next;
    },
    /** @param {Frame} frame */
    show(frame) {
      const all = entries(frame).sort((p, q) => Math.abs(q.value) - Math.abs(p.value));
      const most = Math.abs(all[0]?.value ?? 1) || 1;
      bars.forEach((slot, k) => {
        const entry = all[k];
        const width = entry ? (Math.abs(entry.value) / most) * ROOM : 0;
        slot.row = entry?.row ?? -1;
        assign(slot.bar, {
          width,
          class: entry ? `alpha k${entry.kind}${entry.row === frame.row ? " current" : ""}` : "alpha",
        });
        assign(slot.value, { x: LEFT + width + 7 });
        slot.name.textContent = entry?.name ?? "";
        slot.value.textContent = entry ? short(entry.value) : "";
      });
      const rest = all.length > MOST_BARS ? `, and ${all.length - MOST_BARS} smaller` : "";
      svg.setAttribute(
        "aria-label",
        `${all
          .slice(0, 5)
          .map((e) => `${e.name} ${short(e.value)}`)
          .join(", ")}${rest}`,
      );
    },
    /** @param {number} row */
    hover(row) {
      for (const slot of bars) slot.bar.classList.toggle("lit", row >= 0 && slot.row === row);
    },
    /** @param {Frame} frame */
    text(frame) {
      const count = entries(frame).filter((entry) => entry.value !== 0).length;
      return frame.alpha
        ? `${count} of ${run?.n} rows count; f(x) is the sum of their similarities with x.`
        : `${count} weights are not zero.`;
    },
  };
}
