// @ts-check
/**
 * Weight space as directions. Only the direction of (w1, w2, b) decides, so the weights are a point on the unit sphere,
 * every row of the data is a great circle, and the solutions are the open spherical polygon on the right side of all.
 */
import { assign, draw, SHAPES, short } from "./elements.js";
import { colourOf, isStraight, weightsOf } from "./frames.js";
import { across3, arc3, dot3, sphericalRegion, unit3 } from "./geometry.js";
import { arrowPath, SIDE } from "./plane.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Vector} Vector */
/** @typedef {import("./types").Point} Point */
/** @typedef {import("./types").Editor} Editor */

const RADIUS = SIDE * 0.44;
const MIDDLE = SIDE / 2;
const MOST_CIRCLES = 40;
const MOST_STEPS = 200;
let gradients = 0;

/** @param {Vector} p  turned; @returns {Point} */
const onScreen = (p) => [MIDDLE + RADIUS * p[0], MIDDLE - RADIUS * p[1]];
const asText = (/** @type {Vector} */ p) =>
  onScreen(p)
    .map((v) => v.toFixed(1))
    .join(" ");
const polyline = (/** @type {Vector[]} */ points) => points.map((p, i) => (i ? "L" : "M") + asText(p)).join("");

/**
 * Return the part of a curve on one side of the sphere: 1 is the front, -1 the back.
 * @param {Vector[]} points
 * @param {number} side
 */
function visible(points, side) {
  let d = "";
  let on = false;
  for (const p of points) {
    const now = p[2] * side >= -1e-9;
    if (now) d += (on ? "L" : "M") + asText(p);
    on = now;
  }
  return d;
}

/**
 * Create the view of the sphere.
 * @param {Element} host
 * @param {Editor | null} editor
 */
export function sphereView(host, editor) {
  const svg = draw(
    "svg",
    {
      viewBox: `0 0 ${SIDE} ${SIDE}`,
      class: "plane ball",
      role: "img",
      tabindex: 0,
      "aria-label": "Weight space: the sphere of directions. Arrow keys turn it.",
    },
    host,
  );
  drawGlobe(svg);
  const back = draw("path", { class: "dual far" }, svg);
  const region = draw("path", { class: "solutions" }, svg);
  const front = draw("path", { class: "dual" }, svg);
  const lit = draw("path", { class: "dual lit" }, svg);
  const one = draw("path", { class: "dual one" }, svg);
  const loop = draw("path", { class: "loop" }, svg);
  const way = draw("path", { class: "way" }, svg);
  const star = draw("path", { class: "star" }, svg);
  const arrow = draw("path", { class: "arrow move" }, svg);
  const mean = draw("path", { class: "now mean", d: SHAPES[3] }, svg);
  const here = draw("circle", { r: 7, class: "hidden" }, svg);
  const classes = draw("g", {}, svg);
  const names = ["w[1]", "w[2]", "b"].map((text) => draw("text", { class: "name axis", opacity: 0 }, svg, text));

  /** @type {Run | null} */
  let run = null;
  /** @type {Frame | null} */
  let frame = null;
  /** @type {number[][]} */
  let normals = [];
  /** @type {number[][]} */
  let circles = [];
  /** @type {number[][]} */
  let polygon = [];
  let axes = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];
  let hovered = -1;

  const turned = (/** @type {Vector} */ p) => axes.map((axis) => dot3(axis, p));

  /** @param {Vector} normal  of a great circle */
  function circle(normal) {
    const [u, v] = across3(turned(unit3(normal)));
    return Array.from({ length: 65 }, (_, k) => {
      const angle = (k / 32) * Math.PI;
      return u.map((c, j) => c * Math.cos(angle) + v[j] * Math.sin(angle));
    });
  }

  /** Draw everything that depends on the rotation of the sphere, but not on the trial. */
  function drawStill() {
    if (!run) return;
    const curves = circles.map(circle);
    svg.classList.toggle("crowded", curves.length > 24);
    assign(front, { d: curves.map((curve) => visible(curve, 1)).join("") });
    assign(back, { d: curves.map((curve) => visible(curve, -1)).join("") });
    const rim = polygon.flatMap((p, i) => arc3(p, polygon[(i + 1) % polygon.length])).map(turned);
    // corners on the far side are drawn on the edge of the disc
    const flat = rim.map((p) => (p[2] >= 0 ? p : unit3([p[0], p[1], 0])));
    const seen = rim.some((p) => p[2] > 0);
    assign(region, { d: seen ? `${polyline(flat)}Z` : "" });
    const best = run.about.w_star && isStraight(run) ? turned(unit3(run.about.w_star)) : null;
    assign(star, { d: best && best[2] > 0 ? `M${asText(best)}m-6 0h12m-6 -6v12` : "" });
    names.forEach((name, k) => {
      const p = turned([0, 1, 2].map((j) => (j === k ? 1.07 : 0)));
      assign(name, { x: MIDDLE + RADIUS * p[0], y: MIDDLE - RADIUS * p[1] + 5, opacity: p[2] > -0.2 ? 1 : 0.35 });
    });
  }

  /** @param {number} dx @param {number} dy */
  function rotate(dx, dy) {
    const spin = (/** @type {number[]} */ p, /** @type {number[]} */ q, /** @type {number} */ angle) => [
      p.map((c, j) => c * Math.cos(angle) + q[j] * Math.sin(angle)),
      q.map((c, j) => c * Math.cos(angle) - p[j] * Math.sin(angle)),
    ];
    [axes[0], axes[2]] = spin(axes[0], axes[2], -dx);
    [axes[1], axes[2]] = spin(axes[1], axes[2], dy);
    drawStill();
    if (frame) view.show(frame);
  }

  /** @param {Frame} now */
  function drawWay(now) {
    if (!run) return;
    const from = Math.max(0, now.state - MOST_STEPS);
    const path = directions(run, from, now.state).map(turned);
    assign(way, {
      d: path
        .slice(1)
        .map((p, i) => visible(arc3(path[i], p, 8), 1))
        .join(""),
    });
    const moved = now.changed && now.w.some(Boolean) && now.old.some(Boolean);
    const arc = moved ? arc3(turned(unit3(now.old)), turned(unit3(now.w))) : [];
    const head = moved ? arrowPath(onScreen(arc[13]), onScreen(arc[16]), 11, 8) : "";
    assign(arrow, { d: moved ? polyline(arc.slice(0, 14)) + head : "" });
    const cycle = now.t >= run.ended ? cycleStart(run) : -1;
    const round = cycle < 0 ? [] : directions(run, cycle, run.states - 1).map(turned);
    assign(loop, {
      d: round
        .slice(1)
        .map((p, i) => visible(arc3(round[i], p, 8), 1))
        .join(""),
    });
  }

  /** @param {Frame} now  of several classes: a vector for each */
  function drawClasses(now) {
    const each = now.each ?? [];
    while (classes.childElementCount < each.length) draw("path", {}, classes);
    [...classes.children].forEach((node, k) => {
      const e = each[k];
      const c = run ? colourOf(run, k) : k;
      const p = e?.some(Boolean) ? turned(unit3(e)) : null;
      const transform = p ? `translate(${asText(p)}) scale(1.3)` : "";
      assign(node, {
        class: p ? `point k${c}` : "hidden",
        d: SHAPES[c],
        transform,
        opacity: p && p[2] < 0 ? 0.3 : 1,
      });
    });
  }

  const view = {
    svg,

    /** @param {Run} next @param {boolean} [refit] */
    load(next, refit = true) {
      run = next;
      const straight = isStraight(next);
      normals = Array.from(next.y, (label, i) => {
        const sign = next.about.signs[label]?.[0] || 1;
        return [next.X[2 * i] * sign, next.X[2 * i + 1] * sign, sign];
      });
      polygon = straight ? sphericalRegion(normals, next.about.w_star) : [];
      circles = straight ? telling(normals, polygon) : [];
      if (refit) {
        const toward = unit3(next.about.w_star ?? frontOf(next));
        const front = unit3(toward.map((c, j) => c + [0.3, 0.4, 0.1][j]));
        axes = [...across3(front), front];
        // the axis of the bias upwards if possible
        const [u, v] = [axes[0][2], axes[1][2]];
        const angle = Math.atan2(u, v);
        const [p, q] = [axes[0], axes[1]];
        axes[0] = p.map((c, j) => c * Math.cos(angle) - q[j] * Math.sin(angle));
        axes[1] = p.map((c, j) => c * Math.sin(angle) + q[j] * Math.cos(angle));
      }
      drawStill();
    },

    /** @param {Frame} now */
    show(now) {
      frame = now;
      if (!run) return;
      drawClasses(now);
      const straight = isStraight(run);
      const zero = !now.w.some(Boolean);
      const p = zero ? [0, 0, 0] : turned(unit3(now.w));
      const kind = straight ? `now${zero ? " zero" : ""}${editor ? " handle" : ""}` : "hidden";
      assign(here, { transform: `translate(${asText(p)})`, opacity: p[2] >= 0 ? 1 : 0.35, class: kind });
      assign(one, {
        d: now.x ? visible(circle([now.x[0], now.x[1], 1]), 1) : "",
        class: `dual one${now.mistake ? "" : " calm"}`,
      });
      const average = straight && now.mean?.some(Boolean) ? turned(unit3(now.mean)) : null;
      assign(mean, { class: average && average[2] > 0 ? "now mean" : "hidden" });
      if (average) assign(mean, { transform: `translate(${asText(average)})` });
      if (straight) drawWay(now);
      else for (const node of [way, arrow, loop]) assign(node, { d: "" });
      view.hover(hovered);
    },

    /** @param {number} row */
    hover(row) {
      hovered = row;
      const known = run && row >= 0 && row < run.n;
      assign(lit, { d: known ? visible(circle(normals[row]), 1) : "" });
    },

    /** @param {Frame} now */
    text(now) {
      if (now.each) return "A vector for each class, as a direction.";
      if (!now.w.some(Boolean))
        return `The weights are ${now.state ? "back at zero: no direction" : "zero: no direction yet"}.`;
      if (!polygon.length) return run?.about.w_star ? "" : "No direction is right for every point.";
      const inside = normals.every((n) => dot3(n, now.w) > 0);
      const angle = (Math.acos(Math.min(1, dot3(unit3(now.w), unit3(run?.about.w_star ?? now.w)))) * 180) / Math.PI;
      // Of an arc cosine near 1, half of the digits are rounding.
      const far = angle < 1e-4 ? "the direction of" : `${short(angle)}\u00b0 from`;
      return `w is ${inside ? "a solution" : "no solution yet"}: ${far} the widest margin.`;
    },
  };

  svg.addEventListener("pointerdown", (event) => {
    const starts = editor && /** @type {Element} */ (event.target).classList.contains("handle");
    svg.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ e) => {
      if (starts && frame) editor.start(startUnder(svg, e, axes, frame.w));
      else rotate(e.movementX / 150, e.movementY / 150);
    };
    const end = () => {
      svg.removeEventListener("pointermove", move);
      if (starts) editor.done();
    };
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerup", end, { once: true });
    svg.addEventListener("pointercancel", end, { once: true });
  });
  svg.addEventListener("keydown", (event) => {
    /** @type {Record<string, number[]>} */
    const ways = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    const turn = ways[event.key];
    if (!turn || event.shiftKey) return;
    rotate(turn[0], turn[1]);
    event.preventDefault();
    event.stopPropagation();
  });
  return view;
}

/**
 * Return the direction to look from if there is no solution: the last weights, or between the classes.
 * @param {Run} run
 */
function frontOf(run) {
  if (run.E) {
    const all = run.about.classes.map((_, c, { length }) => unit3(run.E?.subarray(-3 * (length - c)) ?? [0, 0, 0]));
    return all.reduce((sum, p) => sum.map((v, j) => v + p[j]), [0.01, 0.02, 0.03]);
  }
  const last = weightsOf(run, run.states - 1);
  return isStraight(run) && last.some(Boolean) ? last : [0.5, 0.6, 0.6];
}

/** @param {SVGSVGElement} svg */
function drawGlobe(svg) {
  const id = `globe-${++gradients}`;
  const shade = draw("radialGradient", { id, cx: "38%", cy: "32%" }, draw("defs", {}, svg));
  draw("stop", { offset: "0", class: "lit" }, shade);
  draw("stop", { offset: "1", class: "dim" }, shade);
  draw("circle", { cx: MIDDLE, cy: MIDDLE, r: RADIUS, fill: `url(#${id})`, class: "globe" }, svg);
}

/**
 * Return the circles to draw if there are many: those that bound the solutions, and a sample of the others.
 * @param {number[][]} normals
 * @param {number[][]} polygon
 */
function telling(normals, polygon) {
  if (normals.length <= MOST_CIRCLES) return normals;
  const every = Math.ceil(normals.length / MOST_CIRCLES);
  const bounds = (/** @type {number[]} */ n) => polygon.some((p) => Math.abs(dot3(unit3(n), p)) < 1e-6);
  return normals.filter((n, i) => i % every === 0 || bounds(n));
}

/**
 * Return the directions of the weights from one state to another; zero weights have no direction.
 * @param {Run} run
 * @param {number} from
 * @param {number} to
 */
function directions(run, from, to) {
  const found = [];
  for (let s = from; s <= to; s++) {
    const w = weightsOf(run, s);
    if (w.some(Boolean)) found.push(unit3(w));
  }
  return found;
}

/**
 * Return the first state of the cycle of a run; -1 if it has none.
 * @param {Run} run
 */
export function cycleStart(run) {
  const { cycle, epochs_end: ends } = run.about;
  if (!cycle) return -1;
  const t = ends[ends.indexOf(run.ended) - cycle] ?? 0;
  return t ? run.at[t - 1] : 0;
}

/**
 * Return weights with the direction under the pointer and the present length, in hundredths as links hold them.
 * @param {SVGSVGElement} svg
 * @param {PointerEvent} event
 * @param {number[][]} axes
 * @param {Vector} now
 */
function startUnder(svg, event, axes, now) {
  const inverse = svg.getScreenCTM()?.inverse() ?? new DOMMatrix();
  const pixel = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
  let [x, y] = [(pixel.x - MIDDLE) / RADIUS, (MIDDLE - pixel.y) / RADIUS];
  const reach = Math.hypot(x, y);
  if (reach > 1) [x, y] = [x / reach, y / reach];
  const z = Math.sqrt(Math.max(0, 1 - x * x - y * y));
  const size = Math.hypot(now[0], now[1], now[2]) || 1;
  return [0, 1, 2].map((j) => Math.round(100 * size * (axes[0][j] * x + axes[1][j] * y + axes[2][j] * z)) / 100 + 0);
}
