// @ts-check
/**
 * Regression by Adaline: a number instead of a class. A line through points; and a sum of units that are never trained,
 * which approximates any continuous function if there are enough of them. Learned here, by the rule of Widrow and Hoff.
 */
import { assign, button, choiceBox, draw, make, short } from "./elements.js";
import { linear, pathOf, ticks } from "./geometry.js";

/** @typedef {import("./types").Vector} Vector */
/** @typedef {import("./types").Point} Point */

const PICTURE = [560, 320];
const TARGET_ROWS = 40;
const GOLDEN = 0.6180339887498949; // its multiples, without their whole part, are spread evenly
const SLOPES = [8, 24]; // range of the slopes of the units
const CURVE_POINTS = 200;
const UNIT_COUNTS = [0, 3, 10, 30, 100];
const RATES = [0.1, 0.5, 1];
const TARGETS = [
  { name: "line", title: "a noisy line", of: (/** @type {number} */ x) => 1.6 * x - 0.8 },
  { name: "sine", title: "a sine", of: (/** @type {number} */ x) => Math.sin(2 * Math.PI * x) },
];

/** @param {number} k */
const spreadOut = (k) => (k * GOLDEN) % 1;

/**
 * Return the rows of a target: x in [0, 1], and y, in an order without a pattern.
 * @param {string} target
 */
export function targetRows(target) {
  const { of } = TARGETS.find((one) => one.name === target) ?? TARGETS[0];
  const noise = target === "line" ? 0.3 : 0;
  return Array.from({ length: TARGET_ROWS }, (_, i) => {
    const x = spreadOut(i + 1);
    return { x, y: of(x) + noise * (2 * spreadOut(7 * i + 3) - 1) };
  });
}

/**
 * Return x as the learner sees it: itself, or the outputs of units, 1 / (1 + exp(-a (x - c))).
 * @param {number} x
 * @param {number} units
 */
export function unitOutputs(x, units) {
  if (!units) return [x];
  return Array.from({ length: units }, (_, j) => {
    const slope = (SLOPES[0] + (SLOPES[1] - SLOPES[0]) * spreadOut(3 * j + 1)) * (j % 2 ? -1 : 1);
    return 1 / (1 + Math.exp(-slope * (x - spreadOut(j + 1))));
  });
}

/**
 * Return f(x) = w.z + b.
 * @param {Vector} w  the bias last
 * @param {Vector} z
 */
export function responseOf(w, z) {
  let sum = w[w.length - 1];
  for (let j = 0; j < z.length; j++) sum += w[j] * z[j];
  return sum;
}

/**
 * Return the weights after a trial: w + eta (y - f) z / |(z, 1)|^2, and the same for the bias.
 * @param {Vector} w
 * @param {Vector} z
 * @param {number} y
 * @param {number} eta
 */
export function adalineStep(w, z, y, eta) {
  const norm = Array.from(z).reduce((sum, v) => sum + v * v, 1);
  const step = (eta * (y - responseOf(w, z))) / norm;
  return Array.from(w, (v, j) => v + step * (j < z.length ? z[j] : 1));
}

/** Create the dialog. */
export function regressionDialog() {
  const [width, height] = PICTURE;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart regression", role: "img" });
  const axes = draw("g", {}, svg);
  const parts = draw("path", { class: "hair" }, svg);
  const aim = draw("path", { class: "boundary old" }, svg);
  const curve = draw("path", { class: "boundary" }, svg);
  const dots = draw("g", {}, svg);
  const error = draw("path", { class: "curve cursor" }, svg);
  const ring = draw("circle", { r: 8, class: "ring wrong" }, svg);
  const said = make("p", { role: "status", class: "regression-text" });
  const x = linear([0, 1], [34, width - 10]);
  const y = linear([-1.4, 1.4], [height - 20, 8]);
  for (const v of ticks([-1.4, 1.4], 5)) {
    draw("path", { d: `M34 ${y(v)}H${width - 10}`, class: v ? "grid" : "zero" }, axes);
    draw("text", { x: 28, y: y(v) + 4, class: "tick end" }, axes, short(v));
  }
  for (const v of ticks([0, 1], 5)) draw("text", { x: x(v), y: height - 4, class: "tick mid" }, axes, short(v));

  let [target, units, eta, t] = ["line", 0, RATES[0], 0];
  let rows = targetRows(target);
  /** @type {number[][]} */
  let seen = [];
  /** @type {number[][]} */
  let basis = []; // what the units give along the curve
  /** @type {number[]} */
  let w = [];
  /** @type {number[]} */
  let old = [];

  function restart() {
    rows = targetRows(target);
    seen = rows.map((row) => unitOutputs(row.x, units));
    basis = Array.from({ length: CURVE_POINTS + 1 }, (_, k) => unitOutputs(k / CURVE_POINTS, units));
    w = new Array((units || 1) + 1).fill(0);
    old = w;
    t = 0;
    dots.replaceChildren();
    for (const row of rows) draw("circle", { r: 3.4, cx: x(row.x), cy: y(row.y), class: "k0" }, dots);
    show();
  }

  /** @param {number} trials */
  function learn(trials) {
    for (let k = 0; k < trials; k++) {
      old = w;
      w = adalineStep(w, seen[t % rows.length], rows[t % rows.length].y, eta);
      t += 1;
    }
    show();
  }

  /** @param {(z: number[], at: number) => number} f */
  const drawn = (f) => {
    const points = basis.map((z, k) => {
      const at = k / CURVE_POINTS;
      return /** @type {Point} */ ([at, Math.max(-3, Math.min(3, f(z, at)))]);
    });
    return pathOf(points, x, y);
  };

  function show() {
    const aimed = TARGETS.find((one) => one.name === target) ?? TARGETS[0];
    assign(curve, { d: drawn((z) => responseOf(w, z)) });
    assign(aim, { d: drawn((_, at) => aimed.of(at)) });
    assign(parts, { d: Array.from({ length: units }, (_, j) => drawn((z) => w[j] * z[j])).join("") });
    const mean = rows.reduce((sum, row, i) => sum + (row.y - responseOf(w, seen[i])) ** 2, 0) / rows.length;
    const i = (t + rows.length - 1) % rows.length;
    const before = responseOf(old, seen[i]);
    assign(ring, { cx: x(rows[i].x), cy: y(rows[i].y), class: t ? "ring wrong" : "ring hidden" });
    assign(error, { d: t ? `M${x(rows[i].x)} ${y(rows[i].y)}V${y(Math.max(-1.4, Math.min(1.4, before)))}` : "" });
    const wanted = `x${i + 1} should score ${short(rows[i].y)} and scored ${short(before)}`;
    const trial = t
      ? `Trial ${t}: ${wanted}, an error of ${short(rows[i].y - before)}. `
      : `${rows.length} rows, weights of zero. `;
    const line = `f(x) = ${short(w[0])} x ${w[1] < 0 ? "\u2212" : "+"} ${short(Math.abs(w[1]))}`;
    const which = units ? `${units} random units, of which only the sum is learned` : line;
    said.textContent = `${trial}${which}; mean squared error ${short(mean)}.`;
    svg.setAttribute("aria-label", said.textContent);
  }

  const choices = [
    choiceBox("target", TARGETS, target, (name) => {
      target = name;
      restart();
    }),
    choiceBox(
      "units",
      UNIT_COUNTS.map((n) => ({ name: String(n), title: n ? `${n} units` : "no units: a line" })),
      "0",
      (n) => {
        units = Number(n);
        restart();
      },
    ),
    choiceBox(
      "rate \u03b7",
      RATES.map((rate) => ({ name: String(rate), title: String(rate) })),
      String(eta),
      (rate) => {
        eta = Number(rate);
        restart();
      },
    ),
  ];
  const buttons = [
    button("Restart", "Weights of zero", restart),
    button("One trial", "One row", () => learn(1)),
    button("One epoch", "All rows once", () => learn(rows.length - (t % rows.length))),
    button("100 epochs", "All rows a hundred times", () => learn(100 * rows.length), { class: "primary" }),
  ];
  const box = make(
    "dialog",
    { "aria-label": "Regression", class: "regression-box" },
    make("h2", {}, "Regression: w \u2190 w + \u03b7 (y \u2212 f(x)) x / |x|\u00b2"),
    make("div", { class: "turn" }, ...choices),
    svg,
    said,
    make(
      "div",
      { class: "turn" },
      ...buttons,
      button("Close", "Close (Escape)", () => box.close()),
    ),
  );
  restart();
  return box;
}
