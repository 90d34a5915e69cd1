// @ts-check
/**
 * Runs as an engine recorded them, Python's or the page's, and what follows from their numbers: scores of other points,
 * classes that win, the rows that a batch corrects, and further rounds of a cycle. Nothing is learned here.
 */

import { DEGREES, featureMap } from "./features.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Surface} Surface */
/** @typedef {import("./types").Vector} Vector */

const MISTAKE = 1;
const UPDATE = 2;
const END = 4;
const DROPPED = 8;
export const ROUNDS = 3; // of a cycle, shown after the run has ended

const ARRAYS = { F64: Float64Array, F32: Float32Array, I32: Int32Array, U8: Uint8Array };

/**
 * Read arrays in the safetensors layout: a length, a header as JSON, little-endian numbers; without a copy.
 * @param {ArrayBuffer} bytes
 * @returns {{about: any, arrays: Record<string, any>}}
 */
export function readArrays(bytes) {
  const length = Number(new DataView(bytes).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
  /** @type {Record<string, any>} */
  const arrays = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const Type = ARRAYS[/** @type {keyof typeof ARRAYS} */ (entry.dtype)];
    const [start, end] = entry.data_offsets;
    const from = 8 + length + start;
    const aligned = from % Type.BYTES_PER_ELEMENT === 0;
    const count = (end - start) / Type.BYTES_PER_ELEMENT;
    arrays[name] = aligned ? new Type(bytes, from, count) : new Type(bytes.slice(from, from + end - start));
    arrays[name].shape = entry.shape;
  }
  return { about: JSON.parse(header.__metadata__?.about ?? "{}"), arrays };
}

/**
 * Write arrays in the safetensors layout, the widest numbers first.
 * @param {{about: any, arrays: Record<string, any>}} frames
 */
export function packArrays({ about, arrays }) {
  const types = Object.entries(ARRAYS);
  const parts = Object.entries(arrays).sort((a, b) => b[1].BYTES_PER_ELEMENT - a[1].BYTES_PER_ELEMENT);
  /** @type {Record<string, any>} */
  const header = { __metadata__: { about: JSON.stringify(about) } };
  let end = 0;
  for (const [name, array] of parts) {
    const dtype = types.find(([, Type]) => array instanceof Type)?.[0];
    header[name] = { dtype, shape: array.shape, data_offsets: [end, end + array.byteLength] };
    end += array.byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = 8 + Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(start + end).fill(32, 8, start);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(start - 8), true);
  bytes.set(text, 8);
  for (const [name, array] of parts) {
    const from = start + header[name].data_offsets[0];
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), from);
  }
  return bytes.buffer;
}

/**
 * Return a run from the bytes of Python, or from the arrays of the page's engine.
 * @param {ArrayBuffer | {about: any, arrays: Record<string, any>}} recorded
 * @returns {Run}
 */
export function readRun(recorded) {
  const read = recorded instanceof ArrayBuffer ? readArrays(recorded) : recorded;
  const [about, arrays] = [{ ...read.about }, { ...read.arrays }]; // copies: a cycle is continued in them
  const n = arrays.y.length;
  const ended = arrays.row.length;
  const [states = 1, k = 1, width = 3] = arrays.W?.shape ?? [];
  goRound(about, arrays);
  const trials = arrays.row.length;
  const W = arrays.W ?? new Float64Array(width);
  const reached = new Int32Array(states);
  for (let t = trials; t > 0; t--) if (arrays.at[t - 1] < states) reached[arrays.at[t - 1]] = t;
  reached[0] = 0;
  const sizes = { n, trials, ended, d: arrays.X.length / n, k, width, states };
  const run = { ...arrays, ...sizes, W, about, recorded: read, reached };
  const made = /** @type {Run} */ (/** @type {unknown} */ (run));
  made.mistakes = new Int32Array(trials + 1);
  made.total = new Float64Array(trials + 1);
  for (let t = 0; t < trials; t++) {
    made.mistakes[t + 1] = made.mistakes[t] + (made.row[t] < 0 ? inBatch(made, t + 1) : made.mistake[t] & MISTAKE);
    made.total[t + 1] = made.total[t] + (Number.isFinite(made.loss?.[t]) ? made.loss[t] : 0);
  }
  made.surface = !made.phi ? null : made.slot ? dualSurface(made) : mappedSurface(made);
  return made;
}

/**
 * Repeat the trials of a cycle: the weights are what they were, and the rows come in the same order.
 * @param {any} about
 * @param {Record<string, any>} arrays
 */
function goRound(about, arrays) {
  const ends = about.epochs_end;
  const last = arrays.row.length;
  if (!about.cycle || !arrays.W || arrays.mean || about.trials_left_out || ends.at(-1) !== last) return;
  const first = ends[ends.length - 1 - about.cycle] ?? 0;
  const [start, back] = [first ? arrays.at[first - 1] : 0, arrays.at[last - 1]]; // two states, the same weights
  for (const name of ["row", "at", "score", "loss", "mistake"]) {
    const all = arrays[name];
    const wide = all.length / last;
    const round = all.subarray(first * wide, last * wide);
    const longer = new all.constructor(all.length + ROUNDS * round.length);
    longer.set(all);
    for (let k = 0; k < ROUNDS; k++) longer.set(round, all.length + k * round.length);
    arrays[name] = longer;
  }
  for (let t = last; t < arrays.at.length; t++) if (arrays.at[t] === start) arrays.at[t] = back;
  const lengths = ends.slice(-about.cycle).map((/** @type {number} */ end) => end - first);
  about.epochs_end = [
    ...ends,
    ...Array.from({ length: ROUNDS }, (_, k) =>
      lengths.map((/** @type {number} */ length) => last + k * (last - first) + length),
    ).flat(),
  ];
}

/**
 * Return the rows that the weights of a problem before trial t misclassify: those that a batch corrects. Undefined if
 * the page cannot map rows as the learner does, or a batch is of rows drawn at random.
 * @param {Run} run
 * @param {number} t
 * @param {number} [problem]
 */
export function misclassified(run, t, problem = 0) {
  if (run.about.scene.order === "random") return undefined;
  const w = weightsOf(run, t > 1 ? run.at[t - 2] : 0, problem);
  const rows = [];
  for (let i = 0; i < run.n; i++) {
    const z = featuresOf(run, rowOf(run, i));
    if (!z || z.length !== run.width - 1) return undefined;
    const sign = run.about.signs[run.y[i]]?.[problem] ?? 0;
    if (sign && inner(w, z) * sign <= 0) rows.push(i);
  }
  return rows;
}

/**
 * Return the number of mistakes of a batch, over all problems; if the page cannot tell, whether there is one.
 * @param {Run} run
 * @param {number} t
 */
function inBatch(run, t) {
  let sum = 0;
  for (let p = 0; p < run.k; p++) sum += misclassified(run, t, p)?.length ?? Number.NaN;
  return Number.isNaN(sum) ? run.mistake[t - 1] & MISTAKE : sum;
}

/**
 * Return whether mistakes are counted row by row; if not, an epoch with any counts once.
 * @param {Run} run
 */
export const countsRows = (run) => !run.trials || run.row[0] >= 0 || misclassified(run, 1) !== undefined;

/** @param {Run} run @param {number} i */
export const rowOf = (run, i) => run.X.subarray(i * run.d, (i + 1) * run.d);

/** @param {Vector} w  the bias last @param {Vector} z */
function inner(w, z) {
  let sum = w[w.length - 1];
  for (let j = 0; j < z.length; j++) sum += w[j] * z[j];
  return sum;
}

/**
 * Return a point as a linear learner sees it: with its products up to the degree of the feature map. Null if the page
 * does not know the map: random units, or a kernel.
 * @param {Run} run
 * @param {Vector} x
 */
export function featuresOf(run, x) {
  const kind = run.about.scene.features ?? "none";
  return DEGREES[kind] && !run.slot ? featureMap(kind, [Array.from(x)], 0, 0)(Array.from(x)) : null;
}

/**
 * Return f of a point for each problem, and whether it is exact. Surfaces of kernels and random units are read off the
 * grid, between its four nearest points. Null outside the grid.
 * @param {Run} run
 * @param {Frame} frame
 * @param {Vector} x
 * @param {Vector | null} [w]  other weights of the only problem, such as their average
 * @returns {{f: number[], exact: boolean} | null}
 */
export function scoresAt(run, frame, x, w = null) {
  const z = featuresOf(run, x);
  if (z && z.length === run.width - 1) {
    if (w) return { f: [inner(w, z)], exact: true };
    return { f: Array.from({ length: run.k }, (_, p) => inner(weightsOf(run, frame.state, p), z)), exact: true };
  }
  const { box, grid } = run.about;
  if (!frame.fs || !box) return null;
  const [u, v] = [0, 1].map((j) => ((x[j] - box[2 * j]) / (box[2 * j + 1] - box[2 * j])) * (grid - 1));
  if (!(u >= 0 && v >= 0 && u <= grid - 1 && v <= grid - 1)) return null;
  const [i, j] = [Math.min(Math.floor(u), grid - 2), Math.min(Math.floor(v), grid - 2)];
  const [s, t] = [u - i, v - j];
  const at = j * grid + i;
  const between = (/** @type {Float64Array} */ f) =>
    (1 - t) * ((1 - s) * f[at] + s * f[at + 1]) + t * ((1 - s) * f[at + grid] + s * f[at + grid + 1]);
  return { f: frame.fs.map(between), exact: false };
}

/** @param {Run} run */
export const modeOf = (run) => run.about.scene.params?.multiclass ?? "ovr";

/**
 * Return the score of each class from those of the problems, as the estimators do: by pairs, the sum of the signed
 * scores of a class against every other; with votes, the votes of the pairs, and of equal ones the sum.
 * @param {Run} run
 * @param {Vector} f  for each problem
 * @returns {number[]}
 */
export function classScores(run, f) {
  const { signs } = run.about;
  if (signs.length === 2) return signs.map((row) => row[0] * f[0]);
  const mode = modeOf(run);
  if (!mode.startsWith("ovo")) return Array.from(f);
  const sums = signs.map((row) => row.reduce((sum, sign, p) => sum + sign * f[p], 0));
  if (mode === "ovo") return sums;
  return votesOf(run, f).map((vote, c) => vote + sums[c] / (3 * (Math.abs(sums[c]) + 1)));
}

/**
 * Return how many of the pairs of each class vote for it.
 * @param {Run} run
 * @param {Vector} f  for each pair
 */
export function votesOf(run, f) {
  return run.about.signs.map((row) => row.filter((sign, p) => sign * (f[p] > 0 ? 1 : -1) > 0).length);
}

/**
 * Return the number of the class that wins; a tie of two classes goes to the negative one, of more to the first.
 * @param {Run} run
 * @param {Vector} f  for each problem
 */
export function winnerOf(run, f) {
  const scores = classScores(run, f);
  if (scores.length === 2) return run.about.signs.findIndex((row) => row[0] > 0 === f[0] > 0);
  return scores.indexOf(Math.max(...scores));
}

/**
 * Return the name of a class: its label; where it has none, its sign, or its number from 1 if there are more.
 * @param {Run} run
 * @param {number} label
 */
export function className(run, label) {
  const { classes, numbers, labels } = run.about;
  if (labels) return labels[numbers?.[label] ?? label] ?? String(label + 1);
  const numbered = classes.every((name, c) => name === String(numbers?.[c] ?? c));
  if (numbered && classes.length === 2) return label ? "+1" : "-1";
  return numbered ? String((numbers?.[label] ?? label) + 1) : classes[label];
}

/**
 * Return the name of a coordinate: that of its column, or x[1], x[2]; x1 is the first row.
 * @param {string} name
 */
export const coordinateName = (name) =>
  name.replace(/\bx(\d+)\b/g, "x[$1]").replace(/\^(\d)/g, (_, power) => "\u00b2\u00b3\u2074"[power - 2] ?? `^${power}`);

/**
 * Return the weights of a problem in a state.
 * @param {Run} run
 * @param {number} state
 * @param {number} [problem]
 */
export function weightsOf(run, state, problem = 0) {
  const from = (state * run.k + problem) * run.width;
  return run.W.subarray(from, from + run.width);
}

/**
 * Return a function that gives f of a kernel learner on the grid at a trial, updated by the steps since the last call.
 * @param {Run} run
 * @returns {(t: number) => Surface}
 */
function dualSurface(run) {
  const phi = /** @type {Float32Array} */ (run.phi);
  const slot = /** @type {Int32Array} */ (run.slot);
  const step = /** @type {Float64Array} */ (run.step);
  const when = /** @type {Int32Array} */ (run.when);
  const rows = /** @type {Int32Array} */ (run.slot_row);
  const cells = run.about.grid ** 2;
  const fs = Array.from({ length: problemsOf(run) }, () => new Float64Array(cells));
  const coef = fs.map(() => new Float64Array(rows.length));
  const alpha = new Float64Array(run.n);
  let known = 0;
  /** @param {number} m @param {number} way */
  const add = (m, way) => {
    const from = slot[m] * cells;
    const size = way * step[m];
    const f = fs[run.problem?.[m] ?? 0];
    const own = coef[run.problem?.[m] ?? 0];
    const was = Math.abs(own[slot[m]]);
    own[slot[m]] += size;
    alpha[rows[slot[m]]] += Math.abs(own[slot[m]]) - was;
    for (let i = 0; i < cells; i++) f[i] += size * phi[from + i];
  };
  return (t) => {
    while (known < when.length && when[known] <= t) add(known++, 1);
    while (known > 0 && when[known - 1] > t) add(--known, -1);
    return { fs, alpha };
  };
}

/**
 * Return a function that gives f of mapped features on the grid: the weights times the features, the last one constant.
 * @param {Run} run
 * @returns {(t: number) => Surface}
 */
function mappedSurface(run) {
  const phi = /** @type {Float32Array} */ (run.phi);
  const cells = run.about.grid ** 2;
  const fs = Array.from({ length: run.k }, () => new Float64Array(cells));
  let known = -1;
  return (t) => {
    const state = t ? run.at[t - 1] : 0;
    if (state === known) return { fs, alpha: null };
    known = state;
    fs.forEach((f, problem) => {
      f.fill(0);
      weightsOf(run, state, problem).forEach((w, j) => {
        if (w) for (let i = 0; i < cells; i++) f[i] += w * phi[j * cells + i];
      });
    });
    return { fs, alpha: null };
  };
}

/** @param {Run} run */
const problemsOf = (run) => run.about.signs[0]?.length ?? 1;

/**
 * Return the average of the weights of the first problem over the trials up to t.
 * @param {Run} run
 * @param {number} state
 * @param {number} t
 */
function meanAt(run, state, t) {
  if (!run.mean) return null;
  const from = state * run.k * run.width;
  const mean = run.mean.subarray(from, from + run.width);
  const since = t - run.reached[state];
  if (!since) return mean;
  const w = weightsOf(run, state);
  const begin = (run.about.average_begins ?? []).findLast((trial) => trial < t) ?? 0;
  if (begin && begin >= run.reached[state]) return w;
  const before = run.reached[state] - begin + (begin ? 1 : 0);
  return mean.map((v, j) => (before * v + since * w[j]) / (before + since));
}

/**
 * Return the number of a class among those that can be drawn, which decides its colour and shape.
 * @param {Run} run
 * @param {number} label
 */
export function colourOf(run, label) {
  return (run.about.numbers?.[label] ?? label) % 4;
}

/**
 * Return the epoch that a trial belongs to, from 1; 0 before the first trial.
 * @param {Run} run
 * @param {number} t
 */
export function epochOf(run, t) {
  if (!t) return 0;
  const ends = run.about.epochs_end;
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] < t) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

/**
 * Return the frame of trial t; 0 is before the first.
 * @param {Run} run
 * @param {number} t
 * @returns {Frame}
 */
export function frameAt(run, t) {
  const state = t ? run.at[t - 1] : 0;
  const before = t > 1 ? run.at[t - 2] : 0;
  const row = t ? run.row[t - 1] : -1;
  const bits = t ? run.mistake[t - 1] : 0;
  const label = row < 0 ? -1 : run.y[row];
  const { E } = run;
  const classes = run.about.classes.length;
  const columns = t ? run.score.length / run.trials : 0;
  const scores = run.score.subarray((t - 1) * columns, t * columns);
  const plane = E && run.width === 3 && !run.phi;
  const each = plane && Array.from({ length: classes }, (_, c) => E.subarray((state * classes + c) * 3).subarray(0, 3));
  const { fs, alpha } = run.surface ? run.surface(t) : { fs: null, alpha: null };
  return {
    t,
    row,
    state,
    before,
    label,
    fs,
    alpha,
    scores,
    epoch: epochOf(run, t),
    x: row < 0 ? null : run.X.subarray(row * run.d, (row + 1) * run.d),
    sign: row < 0 ? 0 : (run.about.signs[label]?.[0] ?? 0),
    score: scores[0] ?? 0,
    loss: t ? run.loss[t - 1] : 0,
    mistake: (bits & MISTAKE) !== 0,
    update: (bits & UPDATE) !== 0,
    ends: (bits & END) !== 0,
    dropped: (bits & DROPPED) !== 0,
    changed: t > 0 && state !== before,
    w: weightsOf(run, state),
    old: weightsOf(run, before),
    mean: meanAt(run, state, t),
    each: each || null,
    mistakes: run.mistakes[t],
  };
}

/**
 * Return whether the boundary is one straight line in the plane: two classes, no kernel, no mapped features.
 * @param {Run} run
 */
export function isStraight(run) {
  return !run.phi && !run.E && run.k === 1 && run.width === 3;
}

/**
 * Return f of a row under the weights of a frame; NaN if the page cannot compute it.
 * @param {Run} run
 * @param {Frame} frame
 * @param {number} row
 */
export function scoreOf(run, frame, row) {
  if (!isStraight(run)) return Number.NaN;
  return frame.w[0] * run.X[2 * row] + frame.w[1] * run.X[2 * row + 1] + frame.w[2];
}
