// @ts-check
/** A new point x′ to try: its score, the class that it is put into, and its distance from the boundary. */
import { assign, draw, short } from "./elements.js";
import { className, isStraight, scoresAt, winnerOf } from "./frames.js";
import { SIDE } from "./plane.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Point} Point */

const LINE_HEIGHT = 16;
const TIE = 1e-12; // a score that is zero but for rounding

/**
 * Create the probe, hidden at first.
 * @param {ReturnType<typeof import("./plane.js").createPlane>} plane
 * @param {SVGGElement} layer
 */
export function createProbe(plane, layer) {
  const { svg } = plane;
  const far = draw("path", { class: "distance" }, layer);
  const mark = draw("path", { class: "probe", d: "M-7 -7L7 7M-7 7L7 -7", tabindex: 0, role: "img" }, layer);
  const lines = [0, 1, 2].map(() => draw("text", { class: "name" }, layer));
  /** @type {Point | null} */
  let at = null;
  let on = false;
  /** @type {Run | null} */
  let run = null;
  /** @type {Frame | null} */
  let frame = null;

  /** Return the lines about the point. @param {Point} x */
  function facts(x) {
    if (!run || !frame) return [];
    const averaged = run.about.scene.learner === "VotedPerceptron" ? null : frame.mean;
    const w = averaged ?? frame.w;
    const scores = scoresAt(run, frame, x, averaged);
    const place = `x\u2032 = (${short(x[0])}, ${short(x[1])})`;
    if (!scores) return [place];
    const values = scores.f.map((v) => short(v)).join(", ");
    const length = Math.hypot(w[0], w[1]);
    const distance = isStraight(run) && length ? `distance ${short(Math.abs(scores.f[0]) / length)}` : "";
    const tie = scores.f.every((v) => Math.abs(v) < TIE);
    const winner = tie ? "a tie" : `class ${className(run, winnerOf(run, scores.f)).replace(/^-(?=\d)/, "\u2212")}`;
    return [place, `f(x\u2032) ${scores.exact ? "=" : "\u2248"} ${values}: ${winner}`, distance];
  }

  /** Draw the way to the boundary, if it is a line. @param {Point} x */
  function drawDistance(x) {
    const w = run && frame && isStraight(run) ? (frame.mean ?? frame.w) : null;
    const squared = w ? w[0] ** 2 + w[1] ** 2 : 0;
    if (!w || !squared) return assign(far, { d: "" });
    const step = (w[0] * x[0] + w[1] * x[1] + w[2]) / squared;
    const [from, to] = [plane.pixel(x), plane.pixel([x[0] - step * w[0], x[1] - step * w[1]])];
    assign(far, { d: `M${from.map((v) => v.toFixed(1)).join(" ")}L${to.map((v) => v.toFixed(1)).join(" ")}` });
  }

  function redraw() {
    layer.classList.toggle("hidden", !on || !run);
    if (!on || !run) return;
    const [[left, right], [bottom, top]] = plane.box;
    const x = at ?? /** @type {Point} */ ([left + 0.6 * (right - left), bottom + 0.64 * (top - bottom)]);
    at = /** @type {Point} */ (plane.inside(x).map((v) => Math.round(v * 100) / 100));
    const [px, py] = plane.pixel(at);
    const told = facts(at);
    assign(mark, { transform: `translate(${px.toFixed(1)} ${py.toFixed(1)})`, "aria-label": told.join(", ") });
    const leftwards = px > SIDE * 0.68;
    const first = py > SIDE - 70 ? py - 46 : py + 18;
    lines.forEach((line, k) => {
      assign(line, {
        x: px + (leftwards ? -12 : 12),
        y: first + k * LINE_HEIGHT,
        "text-anchor": leftwards ? "end" : "start",
      });
      line.textContent = told[k] ?? "";
    });
    drawDistance(at);
  }

  /** @param {Point} next */
  function move(next) {
    at = next;
    redraw();
  }

  mark.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    mark.focus();
    svg.setPointerCapture(event.pointerId);
    const drag = (/** @type {PointerEvent} */ e) => move(plane.under(e));
    const end = () => {
      svg.removeEventListener("pointermove", drag);
      svg.removeEventListener("pointerup", end);
      svg.removeEventListener("pointercancel", end);
    };
    svg.addEventListener("pointermove", drag);
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
  });
  mark.addEventListener("keydown", (event) => {
    /** @type {Record<string, Point>} */
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const way = ways[event.key];
    if (!way || !at || event.shiftKey) return;
    const step = (plane.box[0][1] - plane.box[0][0]) / 50;
    move([at[0] + way[0] * step, at[1] + way[1] * step]);
    event.preventDefault();
    event.stopPropagation();
  });
  redraw();

  return {
    /** @param {boolean} next */
    toggle(next) {
      on = next;
      redraw();
    },
    /** @param {Run | null} nextRun @param {Frame | null} nextFrame */
    show(nextRun, nextFrame) {
      run = nextRun;
      frame = nextFrame;
      redraw();
    },
  };
}
