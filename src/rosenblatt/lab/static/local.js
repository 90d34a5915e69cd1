// @ts-check
/** Runs that the page computes itself, in the arrays of `rosenblatt.lab.frames`: the views do not know who did. */
import { codingMatrix, pairSums, train, winner } from "./engine.js";
import { featureMap, mappedNames } from "./features.js";
import { KernelPerceptron } from "./kernels.js";
import { dot, LEARNERS } from "./learners.js";
import { widestMargin } from "./margin.js";
import { countOf, stopReason, STOPS } from "./reasons.js";
import { checkedScene } from "./scene.js";

/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Catalogue} Catalogue */
/** @typedef {import("./types").CheckedScene} CheckedScene */
/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").Task} Task */
/** @typedef {import("./types").Plane} Plane */
/** @typedef {{about: any, arrays: Record<string, any>}} Frames */

const GRID = 64;
const COARSE_GRID = 32;
const MOST_FINE_COLUMNS = 300;
const BOX_SHARE = 0.18; // of the width, left empty on each side
const PLAIN = { penalty: null, schedule: "constant", batch: false, margin: 0, fit_intercept: true };

/**
 * Return what the engine of the page lacks for a scene; empty if it can compute it.
 * @param {Scene} scene
 */
export function lacking(scene) {
  if (scene.learner === "KernelPerceptron") return scene.params?.budget ? "A budget" : "";
  return scene.learner in LEARNERS ? "" : scene.learner;
}

/**
 * Return an array with its shape.
 * @template {Float64Array | Float32Array | Int32Array | Uint8Array} T
 * @param {T} array
 * @param {number[]} shape
 */
const shaped = (array, ...shape) => Object.assign(array, { shape });

/** @param {number[]} x @param {number} number @returns {Row} */
function sparseRow(x, number) {
  const at = x.flatMap((value, j) => (value ? [j] : []));
  return { number, at: Int32Array.from(at), x: Float64Array.from(at, (j) => x[j]) };
}

/**
 * Train the learner of a scene.
 * @param {CheckedScene} checked
 * @param {Catalogue} catalogue
 */
function trained(checked, catalogue) {
  const { learner: entry, params, X, labels, classes, multiclass } = checked;
  const map = featureMap(checked.features, X, checked.units, checked.seed);
  const Z = X.map(map);
  const kernel = entry.name === "KernelPerceptron";
  const sign = codingMatrix(classes.length, multiclass);
  const epochs = Math.min(checked.epochs, Math.max(1, Math.floor(catalogue.limits.trials / X.length)));
  /** @type {Task} */
  const task = {
    rows: Z.map(sparseRow),
    features: Z[0].length,
    label: Int32Array.from(labels, (one) => classes.indexOf(one)),
    sign,
    multiclass,
    joint: multiclass === "joint" && sign[0].length > 1,
    names: classes,
    order: checked.order,
    seed: checked.seed,
    epochs,
    endings: catalogue.endings,
    remedies: catalogue.remedies,
  };
  if (entry.name === "Winnow" && !params.balanced && Z.flat().some((value) => value < 0)) {
    throw new Error(
      "Negative values in data passed to Winnow. Use balanced=True, or split each feature into its positive and its " +
        "negative part.",
    );
  }
  const penalised = params.penalty ?? null;
  if (params.batch && penalised !== null) {
    throw new Error("Batch updates are for the perceptron without a penalty. Drop batch=True, or the penalty.");
  }
  if (checked.start && (classes.length > 2 || checked.start.length !== Z[0].length + 1)) {
    throw new Error(
      `A start of ${checked.start.length} numbers does not fit ${Z[0].length} weights and a bias of two classes.`,
    );
  }
  const made = kernel ? new KernelPerceptron(task, params, X) : LEARNERS[entry.name](task, params);
  const learner = /** @type {import("./types").PageLearner} */ (/** @type {unknown} */ (made));
  if (checked.start) learner.startFrom(checked.start);
  const { eta0 = 1, schedule = "constant", batch = false } = params;
  const run = train(task, learner, { eta0, schedule, batch });
  return { task, learner, run, map, Z, kernel };
}

/**
 * Return for each problem its states after the first update, each with the number of trials that it survived.
 * @param {any} learner
 * @param {Task} task
 * @param {any} recording
 * @param {number} until  trial
 */
function survivors(learner, task, recording, until) {
  const problems = learner.vectors.length;
  const seen = new Array(problems).fill(0);
  /** @type {Map<number, number>[]} */
  const survived = learner.vectors.map(() => new Map());
  for (let t = 0; t < until; t++) {
    for (let p = 0; p < problems; p++) {
      const takesPart = task.joint || task.sign[task.label[recording.row[t]]][p] !== 0;
      const v = learner.vectors[p];
      if (!takesPart || seen[p] >= v.seen) continue;
      if (seen[p] >= (v.first ?? Infinity)) {
        survived[p].set(recording.at[t], (survived[p].get(recording.at[t]) ?? 0) + 1);
      }
      seen[p]++;
    }
  }
  return survived;
}

/**
 * Return the number of rows that the model predicts wrongly.
 * @param {ReturnType<typeof trained>} made
 */
function misses({ task, learner, run }) {
  const { sign, multiclass, rows, label, features } = task;
  /** @type {(row: Row, i: number) => number[]} */
  let scores;
  if (!learner.linear) scores = (_, i) => learner.vectors.map((/** @type {any} */ v) => v.scores[i]);
  else if (learner.voted) {
    const survived = survivors(learner, task, run.recording, run.recording.row.length);
    scores = (row) =>
      survived.map((/** @type {Map<number, number>} */ trials, /** @type {number} */ p) => {
        let votes = 0;
        for (const [state, count] of trials) {
          const from = p * (features + 1);
          const w = run.recording.states[state].subarray(from, from + features + 1);
          votes += dot(row, w) + w[features] > 0 ? count : -count;
        }
        return votes / Math.max(learner.vectors[p].seen, 1);
      });
  } else {
    const planes = learner.planes();
    scores = (row) => planes.map((/** @type {Plane} */ { w, b }) => dot(row, w) + b);
  }
  return rows.reduce((wrong, row, i) => wrong + Number(winner(scores(row, i), sign, multiclass) !== label[i]), 0);
}

/**
 * Return the run of a scene.
 * @param {Scene} scene
 * @param {Catalogue} catalogue
 * @returns {Frames}
 */
export function localRun(scene, catalogue) {
  const checked = checkedScene(scene, catalogue);
  const made = trained(checked, catalogue);
  const { task, learner, run, Z, kernel } = made;
  const { recording } = run;
  const { X, classes, params } = checked;
  const theory = theoryOf(checked, task, Z);
  const epochsEnd = run.mistakes.map((_, e) => recording.epoch.lastIndexOf(e + 1) + 1);
  const begins = learner.late ? powers(run.mistakes.length).map((epoch) => recording.epoch.indexOf(epoch)) : [];
  const arrays = {
    X: shaped(Float64Array.from(X.flat()), X.length, X[0].length),
    y: shaped(task.label, X.length),
    ...trialArrays(recording, epochsEnd),
    ...(kernel ? logArrays(learner, recording) : weightArrays(made, theory, begins)),
  };
  const box = boxOf(X);
  let grid = GRID;
  if (box && (kernel || checked.features !== "none")) {
    const phi = basisOnGrid(made, X, box);
    grid = Math.sqrt(phi.shape[1]);
    Object.assign(arrays, { phi });
  }
  const wrong = misses(made);
  const updates = recording.updates.reduce((sum, count) => sum + (params.batch ? Math.min(count, 1) : count), 0);
  const batch = params.batch ?? false;
  const reason = stopReason(task, learner, { ...run, updates, wrong: learner.voted ? null : wrong, batch });
  const names = columnsOf(scene, catalogue, X[0].length);
  const cut = task.epochs < checked.epochs && run.mistakes.length === task.epochs;
  const more = cut ? ` The lab shows at most ${countOf(task.epochs, "epoch")} of this many points.` : "";
  const final = kernel ? null : learner.planes().map((/** @type {Plane} */ { w, b }) => [...w, b]);
  const about = {
    scene: sceneDict(checked, scene),
    classes: classNames(classes),
    numbers: scene.data === "points" ? classes : classes.map((_, k) => k),
    names,
    columns: mappedNames(checked.features, names, checked.units),
    signs: task.sign,
    rule: checked.learner.rule,
    eta: rateOf(checked),
    plain: followsTheorem(checked),
    box,
    grid,
    R: theory.R,
    gamma: theory.gamma,
    bound: followsTheorem(checked) ? theory.bound : null,
    w_star: theory.separator,
    names_of_rows: `x1..x${X.length}`,
    linear: !kernel && checked.features === "none",
    trials_left_out: 0,
    version: catalogue.version,
    epochs_end: epochsEnd,
    average_begins: begins,
    reason,
    stop: `${reason[0].toUpperCase()}${reason.slice(1)}${more}`,
    ending: STOPS.find((stop) => run.ending.stops.includes(stop)),
    cycle: run.ending.length,
    accuracy: (X.length - wrong) / X.length,
    final,
  };
  return { about, arrays };
}

/**
 * Return the vote of all weights of two classes up to a trial, on a grid.
 * @param {Scene & {t?: number}} scene
 * @param {Catalogue} catalogue
 * @returns {Frames}
 */
export function localVote(scene, catalogue) {
  const checked = checkedScene(scene, catalogue);
  const { task, learner, run } = trained(checked, catalogue);
  const box = boxOf(checked.X);
  if (!box || checked.features !== "none" || learner.vectors.length > 1 || !learner.linear) {
    throw new Error("The scene has no surface. Choose two classes of points in the plane, without a feature map.");
  }
  const t = Math.min(scene.t ?? 0, run.recording.row.length);
  const [survived] = survivors(learner, task, run.recording, t);
  const score = Float32Array.from(gridPoints(box, GRID), ([x, y]) => {
    let votes = 0;
    for (const [state, count] of survived) {
      const [w1, w2, b] = run.recording.states[state];
      votes += count * Math.sign(w1 * x + w2 * y + b);
    }
    return votes / Math.max(t, 1);
  });
  const label = Uint8Array.from(score, (value) => Number(value > 0));
  const cells = GRID * GRID;
  return {
    about: { t, way: "vote", box, grid: GRID },
    arrays: { label: shaped(label, cells), score: shaped(score, cells) },
  };
}

/** Return the powers of two from 2 to a number. */
const powers = (/** @type {number} */ most) =>
  Array.from({ length: 31 }, (_, k) => 2 ** (k + 1)).filter((power) => power <= most);

// -------------------------------------------------------------------------------------------------------------- arrays

/** @param {any} recording @param {number[]} epochsEnd */
function trialArrays(recording, epochsEnd) {
  const trials = recording.row.length;
  const bits = new Uint8Array(trials);
  for (let t = 0; t < trials; t++) bits[t] = (recording.mistakes[t] > 0 ? 1 : 0) + (recording.updates[t] > 0 ? 2 : 0);
  for (const end of epochsEnd) bits[end - 1] += 4;
  return {
    row: shaped(new Int32Array(recording.row), trials),
    at: shaped(new Int32Array(recording.at), trials),
    score: shaped(new Float64Array(recording.score), trials, recording.problems),
    loss: shaped(new Float64Array(recording.loss), trials),
    mistake: shaped(bits, trials),
  };
}

/**
 * Return the distinct weights with the bias last, their averages, and the quantities of the proof.
 * @param {any} made
 * @param {ReturnType<typeof theoryOf>} theory
 * @param {number[]} begins
 */
function weightArrays({ task, learner, run }, theory, begins) {
  const { states, at } = run.recording;
  const [problems, width] = [learner.vectors.length, task.features + 1];
  const W = new Float64Array(states.length * problems * width);
  for (const [s, state] of states.entries()) W.set(state, s * problems * width);
  const squares = states.map((/** @type {Float64Array} */ state) =>
    state.reduce((sum, value) => sum + value * value, 0),
  );
  /** @type {Record<string, any>} */
  const arrays = {
    W: shaped(W, states.length, problems, width),
    norm2: shaped(Float64Array.from(squares), states.length),
  };
  if (problems === 1 && learner.averaged) arrays.mean = shaped(averages(W, width, at, begins), states.length, 1, width);
  const { separator } = theory;
  if (separator) {
    const products = states.map((/** @type {Float64Array} */ state) =>
      separator.reduce((sum, value, j) => sum + value * state[j], 0),
    );
    arrays.dot = shaped(Float64Array.from(products), states.length);
  }
  const classes = task.sign.length;
  if (classes > 2 && task.multiclass !== "ovo-vote") {
    const E = new Float64Array(states.length * classes * width);
    states.forEach((/** @type {Float64Array} */ state, /** @type {number} */ s) => {
      for (let j = 0; j < width; j++) {
        const column = Array.from({ length: problems }, (_, p) => state[p * width + j]);
        const each = task.multiclass === "ovo" ? pairSums(column, task.sign, "ovo") : column;
        each.forEach((value, c) => {
          E[(s * classes + c) * width + j] = value;
        });
      }
    });
    arrays.E = shaped(E, states.length, classes, width);
  }
  return arrays;
}

/**
 * Return for each state the mean of the weights over the trials up to and including the one that led to it. It restarts
 * at each of `begins`, from the weights there, which count as those of one trial.
 * @param {Float64Array} W
 * @param {number} width
 * @param {number[]} at
 * @param {number[]} begins
 */
function averages(W, width, at, begins) {
  const mean = W.slice();
  const sum = new Float64Array(width);
  let [count, last] = [0, 0];
  at.forEach((state, t) => {
    if (begins.includes(t)) {
      for (let j = 0; j < width; j++) sum[j] = W[last * width + j];
      count = 1;
    }
    count++;
    for (let j = 0; j < width; j++) {
      sum[j] += W[state * width + j];
      if (state !== last && t) mean[state * width + j] = sum[j] / count;
    }
    last = state;
  });
  return mean;
}

/** @param {any} learner @param {any} recording */
function logArrays(learner, recording) {
  const { log, slots } = learner;
  /** @type {number[]} */
  const reached = [];
  recording.at.forEach((/** @type {number} */ state, /** @type {number} */ t) => {
    reached[state] ??= t + 1;
  });
  const column = (/** @type {(entry: any) => number} */ part) => Int32Array.from(log, part);
  return {
    slot: shaped(
      column((entry) => entry.slot),
      log.length,
    ),
    problem: shaped(
      column((entry) => entry.problem),
      log.length,
    ),
    step: shaped(
      Float64Array.from(log, (/** @type {any} */ entry) => entry.step),
      log.length,
    ),
    when: shaped(
      column((entry) => reached[entry.state]),
      log.length,
    ),
    slot_row: shaped(Int32Array.from(slots.keys()), slots.size),
  };
}

// --------------------------------------------------------------------------------------------------------------- about

/** @param {CheckedScene} checked */
function rateOf({ learner, params }) {
  if ("eta0" in params) return params.eta0;
  return ["perceptron", "pocket", "kernel"].includes(learner.rule) ? 1 : null;
}

/** @param {CheckedScene} checked */
function followsTheorem({ learner, params }) {
  const plain = Object.entries(PLAIN).every(([name, value]) => (params[name] ?? value) === value);
  return ["perceptron", "pocket"].includes(learner.rule) && plain;
}

/**
 * Return the radius of the rows (x, 1); and of two linear classes the largest margin, its separator, and the bound.
 * @param {CheckedScene} checked
 * @param {Task} task
 * @param {number[][]} Z
 */
function theoryOf(checked, task, Z) {
  const R = Math.sqrt(Math.max(...Z.map((z) => z.reduce((sum, value) => sum + value * value, 0))) + 1);
  const none = { R, gamma: null, bound: null, separator: null };
  if (checked.learner.kernel || checked.classes.length !== 2) return none;
  const signed = Z.map((z, i) => [...z, 1].map((value) => (task.label[i] ? value : -value)));
  const widest = widestMargin(signed);
  if (!widest) return none;
  const { margin: gamma, w: separator } = widest;
  let bound = (R / gamma) ** 2;
  if (checked.start) {
    const eta = rateOf(checked) || 1;
    const reach = R ** 2 / gamma;
    bound = checked.start.reduce((sum, value, j) => sum + (value / eta - reach * separator[j]) ** 2, 0) / R ** 2;
  }
  return { R, gamma, bound: Math.floor(bound * (1 + 1e-9)), separator };
}

/** @param {number[]} classes */
const classNames = (classes) => classes.map((label) => (classes[0] < 0 && label > 0 ? `+${label}` : String(label)));

/**
 * @param {Scene} scene
 * @param {Catalogue} catalogue
 * @param {number} columns
 */
function columnsOf(scene, catalogue, columns) {
  const data = catalogue.data.find((one) => one.name === scene.data);
  return data?.columns ?? Array.from({ length: columns }, (_, j) => `x${j + 1}`);
}

/**
 * Return a scene without the settings that have their default values.
 * @param {CheckedScene} checked
 * @param {Scene} scene
 */
function sceneDict(checked, scene) {
  const { data, learner, features, order, seed, epochs, start } = checked;
  const changed = learner.params.filter((control) => checked.params[control.name] !== control.default);
  const params = Object.fromEntries(changed.map(({ name }) => [name, checked.params[name]]));
  const points = data === "points" ? { points: scene.points } : {};
  return { data, ...checked.values, ...points, learner: learner.name, params, features, order, seed, epochs, start };
}

// --------------------------------------------------------------------------------------------------------------- plane

/**
 * Return the limits of the plane, a square: x low, x high, y low, y high.
 * @param {number[][]} X
 * @returns {[number, number, number, number] | null}
 */
function boxOf(X) {
  if (X[0].length !== 2) return null;
  const limits = [0, 1].map((j) => [Math.min(...X.map((x) => x[j])), Math.max(...X.map((x) => x[j]))]);
  const half = Math.max(...limits.map(([low, high]) => (high - low) / 2), 0.5) * (1 + 2 * BOX_SHARE);
  const [x, y] = limits.map(([low, high]) => (low + high) / 2);
  return [x - half, x + half, y - half, y + half];
}

/**
 * Return a grid of points, x fastest, both ascending.
 * @param {number[]} box
 * @param {number} size
 */
function gridPoints(box, size) {
  const line = (/** @type {number} */ low, /** @type {number} */ high) =>
    Array.from({ length: size }, (_, i) => low + (i * (high - low)) / (size - 1));
  const across = line(box[0], box[1]);
  return line(box[2], box[3]).flatMap((y) => across.map((x) => [x, y]));
}

/**
 * Return the basis on a grid, whose product with the weights gives f there: similarities with the rows that were ever
 * mistaken, or mapped features and a 1. The grid is coarser if there are many.
 * @param {ReturnType<typeof trained>} made
 * @param {number[][]} X
 * @param {number[]} box
 */
function basisOnGrid({ learner, map, Z, kernel }, X, box) {
  const vectors = kernel ? Array.from(learner.slots.keys(), (i) => X[i]) : [];
  const columns = kernel ? vectors.length : Z[0].length + 1;
  const points = gridPoints(box, columns > MOST_FINE_COLUMNS ? COARSE_GRID : GRID);
  const phi = new Float32Array(columns * points.length);
  points.forEach((point, i) => {
    const values = kernel ? vectors.map((x) => learner.kernel(x, point)) : [...map(point), 1];
    for (let k = 0; k < columns; k++) phi[k * points.length + i] = values[k];
  });
  return shaped(phi, columns, points.length);
}
