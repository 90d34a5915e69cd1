// @ts-check
/** The engine of the page: presents the rows one by one until the run ends, and records every trial. */
import { Random } from "./random.js";

/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").PageLearner} PageLearner */
/** @typedef {import("./types").Task} Task */

const DIVERGENCE = 10; // times the loss of zero weights
const PATIENCE = 5; // epochs

// ---------------------------------------------------------------------------------------------------- several classes

/**
 * Return sign[class][problem]. Two classes need one problem, whose positive class is the second.
 * @param {number} classes
 * @param {string} multiclass
 */
export function codingMatrix(classes, multiclass) {
  if (classes === 2) return [[-1], [1]];
  const numbers = Array.from({ length: classes }, (_, c) => c);
  if (!multiclass.startsWith("ovo")) return numbers.map((c) => numbers.map((p) => (p === c ? 1 : -1)));
  const pairs = numbers.flatMap((k) => numbers.slice(k + 1).map((l) => [k, l]));
  return numbers.map((c) => pairs.map(([k, l]) => (c === k ? 1 : c === l ? -1 : 0)));
}

/**
 * Return the class that wins by the scores of the problems; a tie of two classes goes to the negative one.
 * @param {ArrayLike<number>} scores
 * @param {number[][]} sign
 * @param {string} multiclass
 */
export function winner(scores, sign, multiclass) {
  if (scores.length === 1) return Number(scores[0] > 0);
  const decided = multiclass.startsWith("ovo") ? pairSums(scores, sign, multiclass) : Array.from(scores);
  return decided.indexOf(Math.max(...decided));
}

/**
 * Return the score of each class: the sum of its scores against each other class; or its votes, ties broken by the sum.
 * @param {ArrayLike<number>} scores
 * @param {number[][]} sign
 * @param {string} multiclass
 */
export function pairSums(scores, sign, multiclass) {
  return sign.map((own) => {
    const sum = own.reduce((total, s, p) => total + s * scores[p], 0);
    if (multiclass === "ovo") return sum;
    const votes = own.reduce((total, s, p) => total + s * (scores[p] > 0 ? 1 : -1), 0) / 2;
    return votes + sum / (3 * (Math.abs(sum) + 1));
  });
}

// ------------------------------------------------------------------------------------------------------------- orders

/** @type {Map<string, {random: Random, epochs: Int32Array[]}>} */
const drawnOrders = new Map(); // while a point is dragged, the orders stay the same

/**
 * Return the order of the rows in an epoch, from 1.
 * @param {string} kind
 * @param {number} seed
 * @param {number} n
 * @param {number} epoch
 */
export function orderOf(kind, seed, n, epoch) {
  const key = kind === "cyclic" ? `cyclic ${n}` : `${kind} ${seed} ${n}`;
  if (!drawnOrders.has(key)) {
    if (drawnOrders.size > 20) drawnOrders.clear();
    drawnOrders.set(key, { random: new Random(seed), epochs: [] });
  }
  const { random, epochs } = /** @type {{random: Random, epochs: Int32Array[]}} */ (drawnOrders.get(key));
  if (kind === "cyclic") epoch = 1;
  while (epochs.length < epoch) {
    const order = epochs.length ? epochs[epochs.length - 1].slice() : Int32Array.from({ length: n }, (_, i) => i);
    if (kind === "random") for (let i = 0; i < n; i++) order[i] = random.integer(n - 1);
    if (kind === "shuffled") shuffle(order, random);
    epochs.push(order);
  }
  return epochs[epoch - 1];
}

/**
 * Permute in place, by Fisher and Yates.
 * @param {Int32Array} order
 * @param {Random} random
 */
function shuffle(order, random) {
  const uniform = Array.from(order, () => random.uniform());
  for (let k = order.length - 1; k > 0; k--) {
    const j = Math.min(k, Math.floor(uniform[k] * (k + 1)));
    [order[k], order[j]] = [order[j], order[k]];
  }
}

/** @type {Record<string, (epoch: number) => number>} */
const SCHEDULES = {
  constant: () => 1,
  "1/t": (epoch) => 1 / epoch,
  "1/sqrt(t)": (epoch) => epoch ** -0.5,
  step: (epoch) => 0.5 ** Math.floor((epoch - 1) / 10),
};

// ---------------------------------------------------------------------------------------------------- the end of a run

/** Brent's search for weights that return to an earlier value at the end of an epoch. */
class Cycle {
  /** @param {{w: Float64Array, b: number}[]} vectors */
  constructor(vectors) {
    this.vectors = vectors;
    this.mark = this.copies();
    this.power = 1;
    this.length = 1;
  }

  copies() {
    return this.vectors.map((v) => [...v.w, v.b]);
  }

  /** Return for each vector whether it has returned, and after how many epochs; advance to the next epoch. */
  returned() {
    const now = this.copies();
    const [same, length] = [now.map((v, p) => v.every((value, j) => value === this.mark[p][j])), this.length];
    if (this.length === this.power) [this.mark, this.power, this.length] = [now, 2 * this.power, 0];
    this.length++;
    return { same, length };
  }
}

/**
 * The rules that end a run: an epoch without an update, weights that return, the last epoch. Each part ends by itself:
 * a part is a problem, or all problems of a joint task.
 */
export class Ending {
  /**
   * @param {number} parts
   * @param {number} last  epoch
   * @param {{rests?: boolean, cycle?: Cycle | null, joint?: boolean, zeroLoss?: number}} [how]
   */
  constructor(parts, last, { rests = true, cycle = null, joint = false, zeroLoss = Infinity } = {}) {
    this.active = Array.from({ length: parts }, (_, p) => p);
    /** @type {string[]} */
    this.stops = [];
    /** @type {Set<number>} */
    this.atRest = new Set();
    /** @type {number | null} */
    this.length = null; // of a cycle, in epochs
    /** @type {Map<number, number>} */
    this.cycleEnds = new Map();
    this.last = last;
    this.rests = rests;
    this.cycle = cycle;
    this.joint = joint;
    this.zeroLoss = zeroLoss;
    this.lowest = this.active.map(() => Infinity);
    this.stale = this.active.map(() => 0);
  }

  /** @param {number[]} parts @param {string} stop */
  end(parts, stop) {
    for (const part of parts) this.stops[part] = stop;
    this.active = this.active.filter((part) => !parts.includes(part));
  }

  /**
   * End parts after an epoch.
   * @param {number} epoch
   * @param {{mistakes: number[], updates: number[]}} counts  of each part
   * @param {() => number[]} objective  mean loss of each part, with its penalty
   * @param {(part: number) => boolean} fits  whether every row is on its side; asked if an epoch may have missed rows
   */
  after(epoch, { mistakes, updates }, objective, fits) {
    const clean = this.rests ? this.active.filter((part) => !updates[part] && fits(part)) : [];
    for (const part of clean) if (mistakes[part]) this.atRest.add(part);
    this.end(
      clean.filter((part) => mistakes[part]),
      "training",
    );
    this.end(
      clean.filter((part) => !mistakes[part]),
      "separated",
    );
    this.end(this.returned(epoch), "cycle");
    if (this.zeroLoss < Infinity) this.end(this.diverged(epoch, objective()), "diverged");
    if (epoch === this.last) this.end(this.active, "epochs");
  }

  /** Return the parts that end since their weights came back: in the epoch that has the weights of the last allowed. */
  returned(/** @type {number} */ epoch) {
    if (!this.cycle) return [];
    const { same, length } = this.cycle.returned();
    for (const part of this.active) {
      const back = this.joint ? same.every(Boolean) : same[part];
      if (!back || this.cycleEnds.has(part)) continue;
      this.length = length;
      this.cycleEnds.set(part, epoch + ((this.last - epoch) % length));
    }
    return this.active.filter((part) => (this.cycleEnds.get(part) ?? Infinity) <= epoch);
  }

  /** @param {number} epoch @param {number[]} figures */
  diverged(epoch, figures) {
    figures.forEach((figure, part) => {
      this.stale[part] = figure > this.lowest[part] ? this.stale[part] + 1 : 0;
      this.lowest[part] = Math.min(this.lowest[part], figure);
    });
    if (epoch !== this.last) return [];
    const high = this.active.filter((part) => !(figures[part] <= DIVERGENCE * this.zeroLoss));
    return high.filter((part) => this.stale[part] >= PATIENCE || !Number.isFinite(figures[part]));
  }
}

// ---------------------------------------------------------------------------------------------------------- recordings

/** What happened in each trial, and the distinct weights. */
export class Recording {
  /** @param {number} problems */
  constructor(problems) {
    this.problems = problems;
    /** @type {number[]} */
    this.row = [];
    /** @type {number[]} */
    this.epoch = [];
    /** @type {number[]} */
    this.score = [];
    /** @type {number[]} */
    this.loss = [];
    /** @type {number[]} */
    this.mistakes = [];
    /** @type {number[]} */
    this.updates = [];
    /** @type {number[]} */
    this.at = [];
    /** @type {Float64Array[]} */
    this.states = [];
  }

  /**
   * @param {number} epoch
   * @param {number} row  -1 for a batch
   * @param {ArrayLike<number>} scores
   * @param {{loss: number, mistakes: number, updates: number}} counts
   */
  note(epoch, row, scores, { loss, mistakes, updates }) {
    this.row.push(row);
    this.epoch.push(epoch);
    for (let p = 0; p < this.problems; p++) this.score.push(scores[p]);
    this.loss.push(loss);
    this.mistakes.push(mistakes);
    this.updates.push(updates);
    this.at.push(this.states.length - 1);
  }

  /**
   * Keep weights unless they are those of the last state.
   * @param {Float64Array} weights
   */
  keep(weights) {
    const last = this.states.at(-1);
    if (!last?.every((value, j) => value === weights[j])) this.states.push(weights);
  }
}

// -------------------------------------------------------------------------------------------------------- the training

/**
 * Train a learner until its run ends, and record every trial.
 * @param {Task} task
 * @param {PageLearner} learner
 * @param {{eta0: number, schedule: string, batch: boolean}} plan
 */
export function train(task, learner, { eta0, schedule, batch }) {
  const { rows, label, sign, joint } = task;
  const problems = sign[0].length;
  const parts = joint ? 1 : problems;
  const { vectors } = learner;
  const alike = task.order === "cyclic" && schedule === "constant";
  const cycle = alike && learner.finite && learner.linear ? new Cycle(vectors) : null;
  const { restsWhenClean: rests, zeroLoss } = learner;
  const ending = new Ending(parts, task.epochs, { rests, cycle, joint, zeroLoss });
  const recording = new Recording(problems);
  const scores = new Float64Array(problems);
  const into = batch ? learner.sums() : vectors; // what the trials change
  /** @type {number[]} */
  const mistakesByEpoch = [];
  /** @type {number[]} */
  const lossByEpoch = [];
  recording.keep(learner.weights());

  for (let epoch = 1; ending.active.length; epoch++) {
    const [mistakes, updates, loss] = [0, 1, 2].map(() => new Array(parts).fill(0));
    const rate = ((SCHEDULES[schedule] ?? SCHEDULES.constant)(epoch) * eta0) / learner.unit;
    learner.beginEpoch(epoch, joint ? vectors : ending.active.map((part) => vectors[part]));
    for (const i of orderOf(task.order, task.seed, rows.length, epoch)) {
      for (let p = 0; p < problems; p++) scores[p] = learner.score(vectors[p], rows[i]);
      const trial = { loss: 0, mistakes: 0, updates: 0 };
      for (const part of ending.active) {
        const y = joint ? 1 : sign[label[i]][part];
        if (!y) continue;
        const outcome = joint
          ? learner.jointTrial(into, rows[i], label[i], scores, rate)
          : learner.trial(into[part], rows[i], y, scores[part], rate);
        mistakes[part] += outcome.mistake;
        updates[part] += outcome.update;
        loss[part] += outcome.loss * learner.unit;
        trial.mistakes += Number(outcome.mistake);
        trial.updates += Number(outcome.update);
        trial.loss += outcome.loss * learner.unit;
      }
      if (batch) continue;
      if (trial.updates || learner.penalised) recording.keep(learner.weights());
      recording.note(
        epoch,
        i,
        scores.map((score) => score * learner.unit),
        trial,
      );
    }
    if (batch) {
      learner.addSums(into);
      recording.keep(learner.weights());
      recording.note(epoch, -1, scores.fill(Number.NaN), {
        loss: total(loss),
        mistakes: total(mistakes),
        updates: total(updates),
      });
    }
    learner.endEpoch(epoch, ending.active, updates);
    mistakesByEpoch.push(total(mistakes));
    lossByEpoch.push(total(loss) / rows.length);
    const objective = () =>
      learner
        .penalties()
        .map((/** @type {number} */ penalty, /** @type {number} */ part) => loss[part] / rows.length + penalty);
    const fits = (/** @type {number} */ part) => task.order !== "random" || learner.fits(part);
    ending.after(epoch, { mistakes, updates }, objective, fits);
  }
  return { recording, ending, mistakes: mistakesByEpoch, losses: lossByEpoch };
}

/** @param {number[]} values */
const total = (values) => values.reduce((sum, value) => sum + value, 0);
