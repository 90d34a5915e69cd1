// @ts-check
/** Runs as an engine recorded them, Python's or the page's. Trials are looked up, surfaces are sums. */

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Surface} Surface */

const MISTAKE = 1;
const UPDATE = 2;
const END = 4;
const DROPPED = 8;

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
  const { about, arrays } = recorded instanceof ArrayBuffer ? readArrays(recorded) : recorded;
  const n = arrays.y.length;
  const trials = arrays.row.length;
  const [states = 1, k = 1, width = 3] = arrays.W?.shape ?? [];
  const mistakes = new Int32Array(trials + 1);
  const total = new Float64Array(trials + 1);
  for (let t = 0; t < trials; t++) {
    mistakes[t + 1] = mistakes[t] + (arrays.mistake[t] & MISTAKE);
    total[t + 1] = total[t] + (Number.isFinite(arrays.loss?.[t]) ? arrays.loss[t] : 0);
  }
  const W = arrays.W ?? new Float64Array(width);
  const reached = new Int32Array(states);
  for (let t = trials; t > 0; t--) if (arrays.at[t - 1] < states) reached[arrays.at[t - 1]] = t;
  reached[0] = 0;
  const sizes = { n, trials, d: arrays.X.length / n, k, width, states };
  const run = { ...arrays, ...sizes, W, about, arrays, mistakes, total, reached };
  const made = /** @type {Run} */ (/** @type {unknown} */ (run));
  made.surface = !made.phi ? null : made.slot ? dualSurface(made) : mappedSurface(made);
  return made;
}

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
  const each = E && Array.from({ length: classes }, (_, c) => E.subarray((state * classes + c) * 3).subarray(0, 3));
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
    each: each ?? null,
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
