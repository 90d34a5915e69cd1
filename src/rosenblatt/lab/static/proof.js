// @ts-check
/**
 * Certificates: drawn in the plane as hulls that meet in a common point, or as the widest band between the classes;
 * under a feature map as the curves that this band becomes; elsewhere as the distance of each row. And as text.
 */
import { draw, make, short } from "./elements.js";
import { chord, clip, pathOf, zeroLine } from "./geometry.js";

/** @typedef {import("./types").Certificate} Certificate */
/** @typedef {import("./types").Run} Run */

const MOST_DISTANCES = 40;

/**
 * Draw a certificate into a layer of the plane; null clears it.
 * @param {ReturnType<typeof import("./plane.js").createPlane>} plane
 * @param {SVGGElement} layer
 * @param {Certificate | null} certificate
 * @param {number[][]} points
 * @param {Run | null} run
 */
export function drawProof(plane, layer, certificate, points, run) {
  layer.replaceChildren();
  if (!certificate || run?.d !== 2) return;
  const { x, y } = plane;
  (certificate.hulls ?? []).forEach((hull, k) => {
    if (hull.length) draw("path", { class: `hull k${k}`, d: pathOf(hull, x, y, true) }, layer);
  });
  if (certificate.hyperplane?.length === 3) drawBand(plane, layer, certificate.hyperplane, certificate.band ?? 0);
  else if (certificate.hyperplane) drawCurves(plane, layer, certificate.hyperplane, certificate.band ?? 0, run);
  const ringed = [...(certificate.supports ?? []), ...(certificate.weights ?? []).map(([row]) => row)];
  for (const row of ringed) {
    const p = points[row - 1];
    if (p) draw("circle", { class: "support", r: 10, cx: x(p[0]), cy: y(p[1]) }, layer);
  }
  if (certificate.common_point?.length === 2) {
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
 * Draw where a separator of mapped points is zero, and the edges of its band, on the grid of the map.
 * @param {ReturnType<typeof import("./plane.js").createPlane>} plane
 * @param {SVGGElement} layer
 * @param {number[]} w
 * @param {number} half  width of the band, as a distance among the mapped points
 * @param {Run} run
 */
function drawCurves(plane, layer, w, half, run) {
  const { phi } = run;
  const { box, grid } = run.about;
  if (!phi || !box || phi.length !== w.length * grid ** 2) return;
  const f = new Float64Array(grid ** 2);
  w.forEach((weight, j) => {
    for (let i = 0; i < f.length; i++) f[i] += weight * phi[j * f.length + i];
  });
  const at = plane.gridPixel(box, grid);
  const reach = half * Math.hypot(...w.slice(0, -1));
  for (const shift of [-reach, 0, reach]) {
    const d = zeroLine(
      f.map((v) => v + shift),
      grid,
      at,
    );
    draw("path", { class: shift ? "edge" : "widest", d }, layer);
  }
}

/**
 * Draw the distances of the rows from the separator as bars, the smallest first.
 * @param {number[]} margins
 * @param {number[]} supports  numbers of the closest rows
 */
function marginBars(margins, supports) {
  const rows = margins.map((distance, i) => ({ distance, i })).sort((p, q) => p.distance - q.distance || p.i - q.i);
  const most = Math.max(...margins);
  const lines = rows.slice(0, MOST_DISTANCES).map(({ distance, i }) => {
    const bar = make("meter", { min: 0, max: most, value: distance, "aria-label": `distance of x${i + 1}` });
    const near = supports.includes(i + 1) ? "closest" : "";
    return make("li", { class: near }, make("span", {}, `x${i + 1}`), bar, make("span", {}, short(distance)));
  });
  const more = rows.length > MOST_DISTANCES ? ` The ${MOST_DISTANCES} smallest of ${rows.length}.` : "";
  return [
    make("p", { class: "soft" }, `Distance of each row from the hyperplane, on its own side.${more}`),
    make("ol", { class: "distances" }, ...lines),
  ];
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
    ...(certificate.margins?.length ? marginBars(certificate.margins, certificate.supports ?? []) : []),
  ];
}
