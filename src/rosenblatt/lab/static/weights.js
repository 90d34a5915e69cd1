// @ts-check
/** Weight space: the sphere of directions, a slice at the bias, or the plane without a bias; bars if there is none. */
import { barsView } from "./bars.js";
import { assign, draw, make, short } from "./elements.js";
import { isStraight, weightsOf } from "./frames.js";
import { chord, openRegion, pathOf } from "./geometry.js";
import { arrowPath, createPlane } from "./plane.js";
import { cycleStart, sphereView } from "./sphere.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Point} Point */
/** @typedef {import("./types").Editor} Editor */

const MOST_LINES = 60;
const MOST_TRAIL = 200;

/** The views of weight space. */
export const SPACES = [
  { name: "sphere", title: "sphere", sentence: "The directions of (w, b): every point is a great circle." },
  { name: "slice", title: "slice", sentence: "The plane of w at the bias of this trial: every point is a line." },
  { name: "plane", title: "no bias", sentence: "The plane of w with a bias of zero: lines through the origin." },
];

/**
 * Create the view of a plane of weights.
 * @param {Element} host
 * @param {Editor | null} editor
 * @param {boolean} flat  whether the bias is taken to be zero
 */
function sliceView(host, editor, flat) {
  const label = flat ? "Weight space without a bias" : "Weight space: a slice at the bias of this trial";
  const plane = createPlane(host, label, ["cone", "lines", "trail", "here"]);
  const { group } = plane;
  plane.name("w[1]", "w[2]");
  const cone = draw("path", { class: "solutions" }, group.cone);
  const lines = draw("path", { class: "dual" }, group.lines);
  const lit = draw("path", { class: "dual lit" }, group.lines);
  const one = draw("path", { class: "dual one" }, group.lines);
  const trail = draw("path", { class: "way" }, group.trail);
  const loop = draw("path", { class: "loop" }, group.trail);
  const arrow = draw("path", { class: "arrow move" }, group.here);
  const dot = draw("circle", { r: 7, class: editor ? "now handle" : "now" }, group.here);

  /** @type {Run | null} */
  let run = null;
  /** @type {Frame | null} */
  let frame = null;
  let drawn = Number.NaN; // the bias for which the lines are drawn
  let empty = false;
  let hovered = -1;

  /** @param {number} bias */
  function drawLines(bias) {
    if (!run || bias === drawn) return;
    drawn = bias;
    const every = Math.ceil(run.n / MOST_LINES);
    const planes = [];
    let d = "";
    for (let i = 0; i < run.n; i++) {
      const [a, b] = [run.X[2 * i], run.X[2 * i + 1]];
      const sign = run.about.signs[run.y[i]]?.[0] || 1;
      planes.push([a * sign, b * sign, bias * sign]);
      const ends = i % every === 0 ? chord(plane.box, a, b, bias) : null;
      if (ends) d += pathOf(ends, plane.x, plane.y);
    }
    const region = openRegion(plane.corners(), planes);
    empty = !region.length;
    assign(lines, { d });
    assign(cone, { d: pathOf(region, plane.x, plane.y, true) });
  }

  /** @param {number} from @param {number} to @returns {Point[]} */
  const states = (from, to) => {
    const found = [];
    for (let s = from; s <= to && run; s++) found.push(/** @type {Point} */ ([...weightsOf(run, s)].slice(0, 2)));
    return found;
  };

  const view = {
    svg: plane.svg,

    /** @param {Run} next @param {boolean} [refit] */
    load(next, refit = true) {
      run = next;
      drawn = Number.NaN;
      if (!refit) return;
      const all = [[0, 0], ...states(0, next.states - 1)];
      const xs = all.map((p) => p[0]);
      const ys = all.map((p) => p[1]);
      const [left, right] = [Math.min(...xs), Math.max(...xs)];
      const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
      const room = Math.max(right - left, top - bottom, 1) * 0.25;
      plane.frame(left - room, right + room, bottom - room, top + room);
    },

    /** @param {Frame} now */
    show(now) {
      frame = now;
      if (!run) return;
      const bias = flat ? 0 : now.w[2];
      drawLines(bias);
      const ends = now.x ? chord(plane.box, now.x[0], now.x[1], bias) : null;
      assign(one, { d: ends ? pathOf(ends, plane.x, plane.y) : "", class: `dual one${now.mistake ? "" : " calm"}` });
      assign(trail, { d: pathOf(states(Math.max(0, now.state - MOST_TRAIL), now.state), plane.x, plane.y) });
      assign(arrow, { d: now.changed ? arrowPath(plane.pixel(now.old), plane.pixel(now.w), 11, 7) : "" });
      const [cx, cy] = plane.pixel(now.w);
      assign(dot, { cx, cy });
      const cycle = now.t >= run.ended ? cycleStart(run) : -1;
      assign(loop, { d: cycle < 0 ? "" : pathOf(states(cycle, run.states - 1), plane.x, plane.y) });
      view.hover(hovered);
    },

    /** @param {number} row */
    hover(row) {
      hovered = row;
      const known = run && frame && row >= 0 && row < run.n;
      const bias = flat ? 0 : (frame?.w[2] ?? 0);
      const ends = known && run ? chord(plane.box, run.X[2 * row], run.X[2 * row + 1], bias) : null;
      assign(lit, { d: ends ? pathOf(ends, plane.x, plane.y) : "" });
    },

    /** @param {Frame} now */
    text(now) {
      const where = flat ? "b = 0" : `b = ${short(now.w[2])}`;
      const set = empty
        ? "no w is right for every point"
        : "the solutions are an open set: its border is not part of it";
      return `At ${where}: ${set}.`;
    },
  };
  if (editor) dragDot(plane, dot, editor, () => frame?.w[2] ?? 0);
  return view;
}

/**
 * Let the user drag the weights to a new start.
 * @param {ReturnType<typeof createPlane>} plane
 * @param {SVGCircleElement} dot
 * @param {Editor} editor
 * @param {() => number} bias
 */
function dragDot(plane, dot, editor, bias) {
  dot.addEventListener("pointerdown", (event) => {
    const b = bias();
    dot.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ e) => {
      const [x, y] = plane.under(e).map((v) => Math.round(v * 100) / 100 + 0);
      editor.start([x, y, b]);
    };
    dot.addEventListener("pointermove", move);
    const end = () => {
      dot.removeEventListener("pointermove", move);
      editor.done();
    };
    dot.addEventListener("pointerup", end, { once: true });
    dot.addEventListener("pointercancel", end, { once: true });
  });
}

/**
 * Create the view of weight space: the chosen picture, if it is possible.
 * @param {Element} host
 * @param {Editor | null} editor
 * @param {(title: string, choices: boolean) => void} named  called with a title, and whether there is a choice
 */
export function weightView(host, editor, named) {
  const stage = host.appendChild(make("div", { class: "stage" }));
  /** @type {Record<string, import("./types").View & {svg: SVGSVGElement}>} */
  const views = {
    sphere: sphereView(stage, editor),
    slice: sliceView(stage, editor, false),
    plane: sliceView(stage, editor, true),
    bars: barsView(stage),
  };
  let chosen = "sphere";
  let current = views.sphere;
  /** @type {Run | null} */
  let run = null;
  /** @type {Frame | null} */
  let frame = null;

  function pick() {
    const straight = !run || isStraight(run);
    const kind = straight ? chosen : run?.E && !run.phi && run.width === 3 ? "sphere" : "bars";
    current = views[kind];
    for (const view of Object.values(views)) view.svg.classList.toggle("hidden", view !== current);
    const title =
      straight || kind === "sphere" ? "Weight space" : run?.slot ? "\u03b1: updates on each row" : "Weights";
    named(title, straight);
  }

  const view = {
    get svg() {
      return current.svg;
    },
    /** @param {string} kind */
    choose(kind) {
      chosen = kind in views && kind !== "bars" ? kind : "sphere";
      pick();
      if (run) current.load(run);
      if (frame) current.show(frame);
    },
    /** @param {Run} next @param {boolean} [refit] */
    load(next, refit = true) {
      run = next;
      const before = current;
      pick();
      current.load(next, refit || before !== current);
    },
    /** @param {Frame} now @param {boolean} [ease] */
    show(now, ease = false) {
      frame = now;
      current.show(now, ease);
    },
    /** @param {number} row */
    hover: (row) => current.hover?.(row),
    /** @param {Frame} now */
    text: (now) => current.text?.(now) ?? "",
  };
  pick();
  return view;
}
