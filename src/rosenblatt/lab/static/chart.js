// @ts-check
/** Curves with a cursor: mistakes against the bound, errors by epoch, the squeeze of the proof, loss, margins. */
import { assign, roundedUp, button, draw, make, short } from "./elements.js";
import { countsRows, frameAt, isStraight, scoreOf } from "./frames.js";
import { linear, pathOf, ticks } from "./geometry.js";
import { errorsAmong } from "./pattern.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Point} Point */
/** @typedef {import("./types").Curve} Curve */
/** @typedef {import("./types").Rows} Rows */

const WIDTH = 320;
const HEIGHT_OF_CHART = 118;
const FROM = 36;
const DIGIT = 6.6; // width of a digit of a tick
const MOST_POINTS = 700;
const MOST_EPOCHS = 100; // at which errors are counted

/**
 * Create an empty chart.
 * @param {Element} host
 * @param {string} title
 * @param {string} [kind]
 */
function createChart(host, title, kind = "") {
  const caption = make("figcaption");
  const figure = host.appendChild(make("figure", { class: kind }, caption));
  const attributes = { viewBox: `0 0 ${WIDTH} ${HEIGHT_OF_CHART}`, role: "img", "aria-label": title, class: "chart" };
  const svg = draw("svg", attributes, figure);
  const axes = draw("g", {}, svg);
  const body = draw("g", {}, svg);
  const cursor = draw("path", { class: "cursor" }, svg);
  let x = linear([0, 1], [FROM, WIDTH - 8]);
  let y = linear([0, 1], [HEIGHT_OF_CHART - 18, 8]);

  /** @param {Point} acrossDomain @param {Point} upDomain */
  function drawAxes(acrossDomain, upDomain) {
    const levels = ticks(upDomain, 3);
    const from = Math.max(FROM, 8 + DIGIT * Math.max(0, ...levels.map((v) => short(v).length)));
    x = linear(acrossDomain, [from, WIDTH - 8]);
    y = linear(upDomain, [HEIGHT_OF_CHART - 18, 8]);
    axes.replaceChildren();
    for (const v of levels) {
      draw("path", { d: `M${from} ${y(v)}H${WIDTH - 8}`, class: v ? "grid" : "zero" }, axes);
      draw("text", { x: from - 4, y: y(v) + 3.5, class: "tick end" }, axes, short(v));
    }
    for (const v of ticks(acrossDomain, 5)) {
      const text = short(v);
      const at = Math.min(x(v), WIDTH - 4 * text.length); // keeps a long number inside
      draw("text", { x: at, y: HEIGHT_OF_CHART - 4, class: "tick mid" }, axes, text);
    }
  }

  return {
    figure,
    caption,
    /** @param {Curve[]} curves @param {Point} domain @param {number} top @param {string} note @param {string} name */
    load(curves, domain, top, note = "", name = title) {
      const low = Math.min(0, ...curves.flatMap((c) => c.points.map((p) => p[1])));
      drawAxes([domain[0], domain[1] || 1], [low, top || 1]);
      body.replaceChildren();
      for (const c of curves) draw("path", { d: pathOf(c.points, x, y), class: `curve ${c.kind}` }, body);
      const keys = curves.filter((c) => c.name).map((c) => make("span", { class: `key ${c.kind}` }, c.name));
      caption.replaceChildren(make("b", {}, name), ...keys, ...(note ? [make("em", {}, note)] : []));
      svg.setAttribute("aria-label", [name, ...curves.map((c) => c.name), note].filter(Boolean).join(", "));
    },
    /** @param {number} at */
    point: (at) => assign(cursor, { d: `M${x(at).toFixed(1)} 8V${HEIGHT_OF_CHART - 18}` }),
    /** @param {number} at */
    invert: (at) => x.invert(at),
  };
}

/**
 * Return values at 0, 1, ... as points; of many values, fewer points.
 * @param {ArrayLike<number>} values
 * @returns {Point[]}
 */
function thinned(values) {
  const every = Math.max(1, Math.ceil(values.length / MOST_POINTS));
  /** @type {Point[]} */
  const points = [];
  for (let t = 0; t < values.length; t += every) points.push([t, values[t]]);
  if ((values.length - 1) % every) points.push([values.length - 1, values[values.length - 1]]);
  return points;
}

/**
 * Return numbers from 0 to a maximum; of many, a sample.
 * @param {number} most
 */
function upTo(most) {
  const parts = Math.min(most, MOST_POINTS);
  return Array.from({ length: parts + 1 }, (_, k) => (parts ? (k * most) / parts : 0));
}

/**
 * Create all charts.
 * @param {Element} host
 */
export function chartsView(host) {
  const mistakes = createChart(host, "Mistakes");
  const errors = createChart(host, "Errors after each epoch", "errors");
  const squeeze = createChart(host, "The squeeze", "squeeze");
  const loss = createChart(host, "Loss so far", "loss");
  const margins = createChart(host, "Margins now", "margins");
  /** @type {Run | null} */
  let run = null;
  /** @type {Frame | null} */
  let shown = null;
  /** @type {Rows | null} */
  let test = null;
  let far = false; // whether the chart of the proof extends to the bound

  /** @param {Run} next @param {Run[]} rivals */
  function loadMistakes(next, rivals) {
    const all = [next, ...rivals];
    const most = Math.max(1, ...all.map((r) => r.mistakes[r.trials]));
    const last = Math.max(1, ...all.map((r) => r.trials));
    const bound = next.about.bound;
    const near = bound !== null && bound !== undefined && bound <= 4 * most;
    const curves = all.map((r, i) => ({
      name: rivals.length ? `${i + 1}` : "made",
      kind: rivals.length ? `racer r${i}` : "made",
      points: thinned(r.mistakes),
    }));
    if (near)
      curves.push({
        name: `bound ${roundedUp(bound)}`,
        kind: "bound",
        points: [
          [0, bound],
          [last, bound],
        ],
      });
    const far =
      bound !== null && bound !== undefined ? `bound ${roundedUp(bound)}` : next.phi || next.E ? "" : "no bound";
    const name = countsRows(next) ? "Mistakes" : "Epochs with a mistake";
    mistakes.load(curves, [0, last], Math.max(most, near ? bound : 0) * 1.08, near ? "" : far, name);
  }

  /** Draw the share of errors among the training rows and the test rows, after each epoch. */
  function loadErrors() {
    errors.figure.hidden = !test || !run?.trials;
    if (!test || !run?.trials) return;
    const now = run;
    const ends = [0, ...now.about.epochs_end];
    const every = Math.ceil(ends.length / MOST_EPOCHS);
    const epochs = ends.flatMap((_, k) => (k % every === 0 || k === ends.length - 1 ? [k] : []));
    const sets = /** @type {[string, string, Rows][]} */ ([
      ["training", "made", { X: now.X, y: now.y }],
      ["test", "bound", test],
    ]);
    const curves = sets.map(([name, kind, rows]) => ({
      name,
      kind,
      points: epochs.map((k) => {
        const { wrong, known } = errorsAmong(now, frameAt(now, Math.min(ends[k], now.trials)), rows);
        return /** @type {Point} */ ([k, wrong / Math.max(1, known)]);
      }),
    }));
    const most = Math.max(0.05, ...curves.flatMap((c) => c.points.map((p) => p[1])));
    errors.load(curves, [0, ends.length - 1], most * 1.08);
  }

  /**
   * Draw M gamma <= <w, w*> <= |w| <= R sqrt(M), up to the mistakes made, or to the bound, where the outer two cross.
   * @param {Run} next
   */
  function loadSqueeze(next) {
    const { R, gamma, bound } = next.about;
    const { norm2, dot } = next;
    const possible = next.k === 1 && !next.slot && norm2 && R && (next.about.plain ?? next.about.rule === "perceptron");
    squeeze.figure.hidden = !possible;
    if (!possible || !norm2 || !R) return;
    /** @type {number[]} */
    const after = [0]; // the state after each mistake
    for (let t = 0; t < next.trials; t++) if (next.mistake[t] & 1) after.push(next.at[t]);
    const eta = next.about.eta || 1;
    const most = far && bound ? Math.max(bound, after.length - 1) : after.length - 1;
    const line = (/** @type {(m: number) => number} */ f) =>
      upTo(most).map((m) => /** @type {Point} */ ([m, eta * f(m)]));
    const curves = [
      { name: "R\u221aM", kind: "upper", points: line((m) => R * Math.sqrt(m)) },
      { name: "\u2016w\u2016", kind: "norm", points: thinned(after.map((s) => Math.sqrt(norm2[s]))) },
    ];
    if (dot && gamma) {
      curves.push({ name: "\u27e8w,w*\u27e9", kind: "dot", points: thinned(after.map((s) => dot[s])) });
      curves.push({ name: "M\u03b3", kind: "lower", points: line((m) => m * gamma) });
    }
    const top = Math.max(1e-9, ...curves.flatMap((c) => c.points.map((p) => p[1])));
    const note = far && bound ? `the proof says stop at ${roundedUp(bound)}` : "";
    squeeze.load(curves, [0, Math.max(1, most)], top * 1.05, note);
    if (!bound || !gamma) return;
    const label = far ? "As far as it went" : "As far as the bound";
    squeeze.caption.append(button(far ? "\u2190" : "\u2192", label, turnScale, { "aria-label": label }));
  }

  function turnScale() {
    far = !far;
    if (!run) return;
    loadSqueeze(run);
    if (shown) squeeze.point(shown.mistakes);
  }

  /** @param {Frame} frame */
  function loadMargins(frame) {
    if (!run || margins.figure.hidden || !margins.figure.offsetParent) return;
    const length = Math.hypot(frame.w[0], frame.w[1]) || 1;
    const now = run;
    const signed = Array.from(now.y, (c, i) => ((now.about.signs[c]?.[0] ?? 0) * scoreOf(now, frame, i)) / length);
    signed.sort((p, q) => p - q);
    const top = Math.max(1e-9, ...signed);
    const wrong = signed.filter((v) => v <= 0).length;
    margins.load(
      [{ name: "y f(x) / \u2016w\u2016, sorted", kind: "made", points: thinned(signed) }],
      [0, signed.length - 1],
      top * 1.05,
    );
    margins.point(wrong - 0.5);
  }

  return {
    /** @param {Run} next @param {Run[]} rivals */
    load(next, rivals = []) {
      run = next;
      loadMistakes(next, rivals);
      loadErrors();
      loadSqueeze(next);
      const most = Math.max(1e-9, next.total[next.trials]);
      loss.figure.hidden = !next.trials;
      loss.load([{ name: "", kind: "made", points: thinned(next.total) }], [0, Math.max(1, next.trials)], most * 1.05);
      margins.figure.hidden = !isStraight(next);
    },
    /** Show rows that were not learned from; null hides them. @param {Rows | null} rows */
    test(rows) {
      test = rows;
      loadErrors();
    },
    /** @param {Frame} frame */
    show(frame) {
      shown = frame;
      mistakes.point(frame.t);
      errors.point(frame.epoch);
      squeeze.point(frame.mistakes);
      loss.point(frame.t);
      loadMargins(frame);
    },
  };
}
