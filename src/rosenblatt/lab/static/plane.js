// @ts-check
/** A square part of a plane, with the same scale in both directions, with ticks and the names of its axes. */
import { draw, short } from "./elements.js";
import { linear, ticks } from "./geometry.js";

/** @typedef {import("./types").Point} Point */
/** @typedef {import("./types").Box} Box */

export const SIDE = 460;

/**
 * Return the path of an arrow between two pixels: its shaft and its head.
 * @param {Point} from
 * @param {Point} end
 * @param {number} [size]  of its head
 * @param {number} [gap]  that it ends before the second pixel
 */
export function arrowPath(from, end, size = 11, gap = 0) {
  const whole = Math.hypot(end[0] - from[0], end[1] - from[1]);
  const length = whole - gap;
  const to = [from[0] + ((end[0] - from[0]) * length) / whole, from[1] + ((end[1] - from[1]) * length) / whole];
  if (!(length > 1)) return "";
  const [u, v] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const neck = [to[0] - u * size, to[1] - v * size];
  const at = (/** @type {number} */ s) => `${(neck[0] - v * s).toFixed(1)} ${(neck[1] + u * s).toFixed(1)}`;
  const tip = `${to[0].toFixed(1)} ${to[1].toFixed(1)}`;
  return `M${from[0].toFixed(1)} ${from[1].toFixed(1)}L${at(0)}M${tip}L${at(size * 0.45)}L${at(-size * 0.45)}Z`;
}

/**
 * Create a plane with layers to draw in, from back to front.
 * @template {string} Layer
 * @param {Element} host
 * @param {string} label
 * @param {Layer[]} layers
 */
export function createPlane(host, label, layers) {
  const attributes = { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group", "aria-label": label, class: "plane" };
  const svg = draw("svg", attributes, host);
  const axes = draw("g", { class: "axes", "aria-hidden": "true" }, svg);
  const group = /** @type {Record<Layer, SVGGElement>} */ ({});
  for (const name of layers) group[name] = draw("g", { class: `layer-${name}` }, svg);

  let names = ["", ""];

  const plane = {
    svg,
    group,
    x: linear([0, 1], [0, SIDE]),
    y: linear([0, 1], [SIDE, 0]),
    box: /** @type {Box} */ ([
      [0, 1],
      [0, 1],
    ]),

    /**
     * Show a box, widened to a square.
     * @param {number} left @param {number} right @param {number} bottom @param {number} top
     */
    frame(left, right, bottom, top) {
      const half = Math.max((right - left) / 2, (top - bottom) / 2, 1e-9);
      const [cx, cy] = [(left + right) / 2, (bottom + top) / 2];
      plane.box = [
        [cx - half, cx + half],
        [cy - half, cy + half],
      ];
      plane.x = linear(plane.box[0], [0, SIDE]);
      plane.y = linear(plane.box[1], [SIDE, 0]);
      axes.replaceChildren();
      for (const v of ticks(plane.box[0])) {
        const at = plane.x(v);
        draw("path", { d: `M${at} 0V${SIDE}`, class: v ? "grid" : "zero" }, axes);
        if (at < SIDE - 24) draw("text", { x: at + 3, y: SIDE - 5, class: "tick" }, axes, short(v));
      }
      for (const v of ticks(plane.box[1])) {
        const at = plane.y(v);
        draw("path", { d: `M0 ${at}H${SIDE}`, class: v ? "grid" : "zero" }, axes);
        if (at > 34 && at < SIDE - 20) draw("text", { x: 4, y: at - 3, class: "tick" }, axes, short(v));
      }
      draw("text", { x: SIDE - 6, y: SIDE - 22, class: "axis-name end" }, axes, names[0]);
      draw("text", { x: 6, y: 18, class: "axis-name" }, axes, names[1]);
    },

    /** Name the axes, from the next frame on. @param {string} across @param {string} up */
    name(across, up) {
      names = [across, up];
    },

    /**
     * Zoom about a point: a factor below 1 shows less.
     * @param {number} factor
     * @param {Point} [about]
     */
    zoom(factor, about) {
      const [[left, right], [bottom, top]] = plane.box;
      const [x, y] = about ?? [(left + right) / 2, (bottom + top) / 2];
      const from = (/** @type {number} */ v, /** @type {number} */ centre) => centre + (v - centre) * factor;
      plane.frame(from(left, x), from(right, x), from(bottom, y), from(top, y));
    },

    /** @param {Point} point @returns {Point}  the closest point of the plane that can be seen */
    inside: (point) =>
      /** @type {Point} */ (point.map((v, j) => Math.max(plane.box[j][0], Math.min(plane.box[j][1], v)))),

    /**
     * Return a function from the index of a point of a grid over a box to its pixel.
     * @param {[number, number, number, number]} box
     * @param {number} size
     */
    gridPixel([left, right, bottom, top], size) {
      return (/** @type {number} */ i) => {
        const [u, v] = [(i % size) / (size - 1), Math.floor(i / size) / (size - 1)];
        return plane.pixel([left + u * (right - left), bottom + v * (top - bottom)]);
      };
    },

    /** @returns {Point[]} */
    corners() {
      const [[left, right], [bottom, top]] = plane.box;
      return [
        [left, bottom],
        [right, bottom],
        [right, top],
        [left, top],
      ];
    },

    /**
     * Return the point of the plane under a pointer.
     * @param {MouseEvent} event
     * @returns {Point}
     */
    under(event) {
      const inverse = svg.getScreenCTM()?.inverse() ?? new DOMMatrix();
      const pixel = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
      return [plane.x.invert(pixel.x), plane.y.invert(pixel.y)];
    },

    /**
     * Return the pixel of a point.
     * @param {ArrayLike<number>} p
     * @returns {Point}
     */
    pixel: (p) => [plane.x(p[0]), plane.y(p[1])],
  };
  return plane;
}
