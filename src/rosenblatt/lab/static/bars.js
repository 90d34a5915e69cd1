// @ts-check
/** Bars: the counts of the rows of a kernel learner, or the weights of features, the largest first. */
import { assign, draw, short } from "./elements.js";
import { colourOf, coordinateName, weightsOf } from "./frames.js";
import { problemIndex } from "./narrate.js";
import { SIDE } from "./plane.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */

const MOST_BARS = 20;
const LEAST_HEIGHT = 22;
const MOST_HEIGHT = 42;
const LETTER = 7; // width of a letter of a name

/** @param {Element} host */
export function barsView(host) {
  const svg = draw("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, class: "plane bars", role: "img" }, host);
  const body = draw("g", {}, svg);
  const bars = Array.from({ length: MOST_BARS }, () => ({
    bar: draw("rect", { width: 0 }, body),
    name: draw("text", { class: "tick end" }, body),
    value: draw("text", { class: "tick" }, body),
    row: -1,
  }));
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
    const now = run;
    return Array.from({ length: now?.k ?? 1 }, (_, p) => {
      const of = now && now.k > 1 ? ` of ${problemIndex(now, p).slice(1)}` : "";
      return Array.from(now ? weightsOf(now, frame.state, p) : frame.w, (value, j) => {
        const name = j === last ? "b" : coordinateName(now?.about.columns?.[j] ?? `w${j + 1}`);
        return { value, name: name + of, kind: value > 0 ? 1 : 0, row: -1 };
      });
    }).flat();
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
      const drawn = Math.max(1, Math.min(MOST_BARS, all.length));
      const height = Math.max(LEAST_HEIGHT, Math.min(MOST_HEIGHT, (SIDE - 20) / drawn));
      const left = Math.min(SIDE / 2, 16 + LETTER * Math.max(4, ...all.slice(0, drawn).map((e) => e.name.length)));
      bars.forEach((slot, k) => {
        const entry = all[k];
        const width = entry ? (Math.abs(entry.value) / most) * (SIDE - left - 60) : 0;
        const y = 10 + k * height;
        slot.row = entry?.row ?? -1;
        for (const text of [slot.name, slot.value]) assign(text, { y: y + height / 2 + 1 });
        assign(slot.name, { x: left - 8 });
        assign(slot.bar, {
          x: left,
          y,
          height: height - 7,
          width,
          class: entry ? `alpha k${entry.kind}${entry.row === frame.row ? " current" : ""}` : "alpha",
        });
        assign(slot.value, { x: left + width + 7 });
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
