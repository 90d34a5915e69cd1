// @ts-check
/** Certificates: drawn as hulls that meet in a common point, or as the widest band between the classes; and as text. */
import { draw, make } from "./elements.js";
import { chord, clip, pathOf } from "./geometry.js";

/** @typedef {import("./types").Certificate} Certificate */

/**
 * Draw a certificate into a layer of the plane; null clears it.
 * @param {ReturnType<typeof import("./plane.js").createPlane>} plane
 * @param {SVGGElement} layer
 * @param {Certificate | null} certificate
 * @param {number[][]} points
 */
export function drawProof(plane, layer, certificate, points) {
  layer.replaceChildren();
  if (!certificate) return;
  const { x, y } = plane;
  (certificate.hulls ?? []).forEach((hull, k) => {
    if (hull.length) draw("path", { class: `hull k${k}`, d: pathOf(hull, x, y, true) }, layer);
  });
  if (certificate.hyperplane) drawBand(plane, layer, certificate.hyperplane, certificate.band ?? 0);
  const ringed = [...(certificate.supports ?? []), ...(certificate.weights ?? []).map(([row]) => row)];
  for (const row of ringed) {
    const p = points[row - 1];
    if (p) draw("circle", { class: "support", r: 10, cx: x(p[0]), cy: y(p[1]) }, layer);
  }
  if (certificate.common_point) {
    const [px, py] = plane.pixel(certificate.common_point);
    draw("path", { class: "common", d: `M${px - 9} ${py}h18M${px} ${py - 9}v18` }, layer);
    const exact = certificate.common_exact ?? [];
    if (exact.length && exact.join("").length < 40) {
      draw("text", { class: "name", x: px + 12, y: py + 20 }, layer, `(${exact.join(", ")})`);
    }
  }
}

/**
 * @param {ReturnType<typeof import("./plane.js").createPlane>} plane
 * @param {SVGGElement} layer
 * @param {number[]} w
 * @param {number} half  width of the band, as a distance
 */
function drawBand(plane, layer, [a, b, c], half) {
  const reach = half * Math.hypot(a, b);
  const band = clip(clip(plane.corners(), a, b, c + reach), -a, -b, -c + reach);
  draw("path", { class: "band", d: pathOf(band, plane.x, plane.y, true) }, layer);
  for (const shift of [-reach, 0, reach]) {
    const ends = chord(plane.box, a, b, c + shift);
    const kind = shift ? "edge" : "widest";
    if (ends) draw("path", { class: kind, d: pathOf(ends, plane.x, plane.y) }, layer);
  }
}

/**
 * Return a certificate as text.
 * @param {Certificate | null} certificate
 * @param {string} waiting  what to say without one
 * @returns {HTMLElement[]}
 */
export function proofText(certificate, waiting) {
  if (!certificate) return [make("p", { class: "soft" }, waiting)];
  const verdict = certificate.verdict.replaceAll("_", "-");
  return [
    make("h3", {}, verdict.charAt(0).toUpperCase() + verdict.slice(1)),
    make("p", {}, certificate.sentence),
    ...(certificate.lines ?? []).map((line) => make("p", { class: "proof-line" }, line)),
  ];
}
