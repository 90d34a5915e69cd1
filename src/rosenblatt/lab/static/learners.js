// @ts-check
/**
 * Learners: what a trial does to a weight vector. Each is a class with the same few methods; `engine.js` presents the
 * rows to it. Sums are in the order of `rosenblatt.engine`, so that both engines give the same numbers.
 */
import {
  hinge,
  leastMeanSquares,
  logistic,
  normalisedLeastMeanSquares,
  passiveAggressive,
  perceptronRule,
  smoothPassiveAggressive,
  squaredHinge,
} from "./rules.js";

/** @typedef {import("./rules.js").Rule} Rule */
/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").Task} Task */
/** @typedef {import("./types").Plane} Plane */
/** @typedef {import("./types").Outcome} Outcome */

const LEAST_SCALE = 1e-3; // of a vector that shrinks; a smaller one is multiplied into its weights
const HIGHEST_EXPONENT = 300;

/**
 * Return the inner product of a row and weights, four products at a time.
 * @param {Row} row
 * @param {Float64Array} w
 */
export function dot({ at, x }, w) {
  let [total, k] = [0, 0];
  for (; k + 4 <= x.length; k += 4) {
    total += x[k] * w[at[k]] + x[k + 1] * w[at[k + 1]] + (x[k + 2] * w[at[k + 2]] + x[k + 3] * w[at[k + 3]]);
  }
  for (; k < x.length; k++) total += x[k] * w[at[k]];
  return total;
}

/**
 * Return the squared length of a row.
 * @param {Row} row
 */
export function squareOf({ x }) {
  let [total, k] = [0, 0];
  for (; k + 4 <= x.length; k += 4) {
    total += x[k] * x[k] + x[k + 1] * x[k + 1] + (x[k + 2] * x[k + 2] + x[k + 3] * x[k + 3]);
  }
  for (; k < x.length; k++) total += x[k] * x[k];
  return total;
}

/**
 * Add a multiple of a row to weights.
 * @param {Row} row
 * @param {number} factor
 * @param {Float64Array} w
 */
function add({ at, x }, factor, w) {
  for (let k = 0; k < x.length; k++) w[at[k]] += factor * x[k];
}

/** A weight vector: it scores scale w.x + b. The rest is for penalties and averages. */
class Vector {
  /** @param {number} size @param {number} problem */
  constructor(size, problem) {
    this.problem = problem;
    this.w = new Float64Array(size);
    this.b = 0;
    this.seen = 0; // trials
    /** @type {number | null} */
    this.first = null; // trials before the first update
    this.scale = 1;
    this.owed = 0; // truncation that every weight should have received
    this.paid = new Float64Array(size); // and that it did receive
    // The average is (scaleSum w - lag) / (seen - skipped), and (seen b - lagB) / (seen - skipped) for the bias.
    this.scaleSum = 0;
    this.lag = new Float64Array(size);
    this.lagB = 0;
    this.skipped = 0;
    // For the pocket: correct trials in a row, the best weights so far, and their errors.
    this.run = 0;
    this.bestRun = -1;
    this.errors = Infinity;
    this.settled = false;
    /** @type {Plane | null} */
    this.best = null;
    // For Winnow: the exponents.
    this.theta = new Float64Array(size);
    this.thetaB = 0;
  }
}

/** The perceptron and its kin: a rule says how far the weights move along the row. */
export class FirstOrder {
  /**
   * @param {Task} task
   * @param {Rule} rule
   * @param {{bias?: number, l1?: number, l2?: number, strength?: number, start?: number, averaged?: boolean,
   *   late?: boolean, eta?: number}} [how]  penalties; the rate 1 / (strength (start + t)) in trial t; whether the
   *   average restarts in epochs 2, 4, 8, ...
   */
  constructor(task, rule, how = {}) {
    this.task = task;
    this.rule = rule;
    this.bias = how.bias ?? 1;
    this.l1 = how.l1 ?? 0;
    this.l2 = how.l2 ?? 0;
    this.strength = how.strength ?? 0;
    this.start = how.start ?? 0;
    this.averaged = how.averaged ?? false;
    this.late = how.late ?? false;
    this.voted = false;
    this.penalised = this.l1 > 0 || this.l2 > 0;
    this.linear = true;
    this.finite = rule.finite && !this.penalised; // whether separable rows cause finitely many updates
    this.restsWhenClean = !this.penalised; // whether an epoch without an update changes nothing
    this.derived = this.averaged || this.penalised; // whether the weights that predict are not those that learn
    // A constant rate only scales the weights: they are learned in units of it, so that sums of integers are exact.
    this.unit = rule.unit && !this.penalised ? (how.eta ?? 1) : 1;
    this.predictor = this.averaged ? "the average" : ""; // if not the last weights
    this.zeroLoss = rule.zeroLoss;
    this.vectors = this.sums();
  }

  /** Return a vector of zeros for each problem. */
  sums() {
    return this.task.sign[0].map((_, p) => new Vector(this.task.features, p));
  }

  /**
   * Start from other weights than zero.
   * @param {number[]} start  the bias last
   */
  startFrom(start) {
    for (const v of this.vectors) {
      v.w.forEach((_, j) => {
        v.w[j] = start[j] / this.unit;
      });
      v.b = start[start.length - 1] / this.unit;
    }
  }

  /** Add the corrections of a batch to the weights. @param {Vector[]} sums */
  addSums(sums) {
    this.vectors.forEach((v, p) => {
      v.w.forEach((_, j) => {
        v.w[j] += sums[p].w[j];
      });
      v.b += sums[p].b;
      sums[p].w.fill(0);
      sums[p].b = 0;
    });
  }

  /** Return the weights that learn, one problem after the other, each with its bias last. */
  weights() {
    const width = this.task.features + 1;
    const all = new Float64Array(this.vectors.length * width);
    this.vectors.forEach((v, p) => {
      const scale = v.scale * this.unit;
      for (let j = 0; j < width - 1; j++) all[p * width + j] = v.w[j] * scale;
      all[(p + 1) * width - 1] = v.b * this.unit;
    });
    return all;
  }

  /** @param {number} rate @param {number} seen */
  rate(rate, seen) {
    return this.strength > 0 ? 1 / (this.strength * (this.start + seen + 1)) : rate;
  }

  /** @param {number} epoch @param {Vector[]} vectors */
  beginEpoch(epoch, vectors) {
    if (!this.averaged || !this.late || epoch < 2 || epoch & (epoch - 1)) return;
    for (const v of vectors) {
      v.skipped = Math.max(v.seen - 1, 0);
      v.scaleSum = v.scale;
      v.lag.fill(0);
      v.lagB = v.skipped * v.b;
    }
  }

  /** @param {Vector} v @param {Row} row */
  score(v, row) {
    return v.scale * dot(row, v.w) + v.b;
  }

  /**
   * Learn from a row with y = sign.
   * @param {Vector} v
   * @param {Row} row
   * @param {number} sign
   * @param {number} score
   * @param {number} plannedRate
   */
  trial(v, row, sign, score, plannedRate) {
    const rate = this.rate(plannedRate, v.seen);
    const [step, loss] = this.rule.respond(sign * score, squareOf(row) + this.bias, rate);
    this.shrink(v, rate);
    if (step) this.move(v, row, sign * step);
    this.end(v, row, rate);
    return this.outcome(step, loss, sign * score);
  }

  /**
   * Return what a trial counts. A rule may leave a mistake as it is; its loss counts.
   * @param {number} step
   * @param {number} loss
   * @param {number} margin
   * @returns {Outcome}
   */
  outcome(step, loss, margin) {
    const mistake = !(margin > 0);
    return { update: step !== 0, mistake, loss: step || mistake ? loss : 0 };
  }

  /**
   * Learn from a row of class c, all classes at once: towards c, away from the best other one.
   * @param {Vector[]} vectors
   * @param {Row} row
   * @param {number} c
   * @param {ArrayLike<number>} scores
   * @param {number} plannedRate
   */
  jointTrial(vectors, row, c, scores, plannedRate) {
    let wrong = c ? 0 : 1;
    for (let k = 0; k < vectors.length; k++) if (k !== c && scores[k] > scores[wrong]) wrong = k;
    const [margin, rate] = [scores[c] - scores[wrong], this.rate(plannedRate, vectors[0].seen)];
    const [step, loss] = this.rule.respond(margin, 2 * (squareOf(row) + this.bias), rate);
    for (const v of vectors) this.shrink(v, rate);
    if (step) {
      this.move(vectors[c], row, step);
      this.move(vectors[wrong], row, -step);
    }
    for (const v of vectors) this.end(v, row, rate);
    return this.outcome(step, loss, margin);
  }

  /** @param {Vector} v @param {number} rate */
  shrink(v, rate) {
    if (!this.l2) return;
    v.scale *= Math.max(0, 1 - rate * this.l2);
    if (v.scale < LEAST_SCALE) fold(v);
  }

  /** @param {Vector} v @param {Row} row @param {number} step */
  move(v, row, step) {
    v.first ??= v.seen;
    const [factor, shift] = [step / v.scale, step * this.bias];
    if (this.averaged) {
      add(row, v.scaleSum * factor, v.lag);
      v.lagB += v.seen * shift;
    }
    add(row, factor, v.w);
    v.b += shift;
  }

  /** @param {Vector} v @param {Row} row @param {number} rate */
  end(v, row, rate) {
    if (this.l1) {
      v.owed += rate * this.l1;
      for (const j of row.at) truncate(v, j);
    }
    v.seen++;
    if (this.averaged) v.scaleSum += v.scale;
  }

  /**
   * Finish an epoch; raise an error if the weights have overflowed.
   * @param {number} epoch
   * @param {number[]} _active
   * @param {number[]} _updates
   */
  endEpoch(epoch, _active, _updates) {
    if (this.vectors.some((v) => !Number.isFinite(v.b) || !v.w.every(Number.isFinite))) {
      throw new Error(`The weights overflowed float64 in epoch ${epoch}: ${this.task.remedies[this.rule.name]}.`);
    }
  }

  /** Return the value of the penalty, for each part of the run. */
  penalties() {
    const each = this.vectors.map((v) => (this.penalised ? this.penalty(this.plane(v)) : 0));
    return this.task.joint ? [each.reduce((sum, value) => sum + value, 0)] : each;
  }

  /**
   * Return whether every row of a part is on its side.
   * @param {number} part
   */
  fits(part) {
    if (!this.finite) return false;
    if (!this.task.joint) return !this.misfits(this.vectors[part]);
    return this.task.rows.every((row, i) => {
      const [c, scores] = [this.task.label[i], this.vectors.map((v) => this.score(v, row))];
      return scores.every((score, k) => k === c || scores[c] > score);
    });
  }

  /**
   * Return the number of rows on the wrong side of a vector.
   * @param {Vector} v
   */
  misfits(v) {
    const { rows, label, sign } = this.task;
    return rows.reduce((wrong, row, i) => {
      const y = sign[label[i]][v.problem];
      return wrong + (y && !(y * (dot(row, v.w) + v.b) > 0) ? 1 : 0);
    }, 0);
  }

  /** Return the weights that predict, of each problem, with the learning rate multiplied in. */
  planes() {
    return this.vectors.map((v) => {
      const { w, b } = this.plane(v);
      return { w: w.map((value) => value * this.unit), b: b * this.unit };
    });
  }

  /**
   * Return the weights that predict, in units of the learning rate.
   * @param {Vector} v
   * @returns {Plane}
   */
  plane(v) {
    const copy = Object.assign(new Vector(0, v.problem), v, {
      w: v.w.slice(),
      lag: v.lag.slice(),
      paid: v.paid.slice(),
    });
    if (this.l1) for (let j = 0; j < copy.w.length; j++) truncate(copy, j);
    if (this.l1 || !this.averaged) fold(copy);
    if (!this.averaged) return { w: copy.w, b: copy.b };
    const trials = Math.max(copy.seen - copy.skipped, 1);
    const w = copy.w.map((value, j) => (copy.scaleSum * value - copy.lag[j]) / trials);
    return { w, b: (copy.seen * copy.b - copy.lagB) / trials };
  }

  /** @param {Plane} plane */
  penalty({ w }) {
    let [squares, sizes] = [0, 0];
    for (const value of w) {
      squares += value * value;
      sizes += Math.abs(value);
    }
    return 0.5 * this.l2 * squares + this.l1 * sizes;
  }
}

/**
 * Multiply the scale of a vector into it. The sum over the trials, scaleSum w - lag, stays the same.
 * @param {Vector} v
 */
function fold(v) {
  for (let j = 0; j < v.w.length; j++) {
    v.lag[j] -= v.scaleSum * v.w[j];
    v.w[j] *= v.scale;
  }
  [v.scaleSum, v.scale] = [0, 1];
}

/**
 * Truncate a weight by what it still owes, but not past zero (Tsuruoka et al. 2009).
 * @param {Vector} v
 * @param {number} j
 */
function truncate(v, j) {
  const before = v.scale * v.w[j];
  let after = before;
  if (before > 0) after = Math.max(0, before - (v.owed + v.paid[j]));
  else if (before < 0) after = Math.min(0, before + (v.owed - v.paid[j]));
  if (after === before) return;
  v.paid[j] += after - before;
  v.lag[j] += (v.scaleSum * (after - before)) / v.scale;
  v.w[j] = after / v.scale;
}

/** The pocket algorithm with ratchet (Gallant 1990): the perceptron, and the best of its weights. */
class Pocket extends FirstOrder {
  /** @param {Task} task @param {number} bias */
  constructor(task, bias) {
    super(task, perceptronRule(0), { bias });
    this.predictor = "the pocket";
  }

  /**
   * @param {Vector} v
   * @param {Row} row
   * @param {number} sign
   * @param {number} score
   * @param {number} rate
   */
  trial(v, row, sign, score, rate) {
    if (sign * score > 0) v.run++;
    else {
      if (v.settled) this.consider(v);
      v.run = 0;
    }
    return super.trial(v, row, sign, score, rate);
  }

  /** Put weights into the pocket if they were right for longer, and make fewer errors on all rows. @param {Vector} v */
  consider(v) {
    if (v.run <= v.bestRun) return;
    const wrong = this.misfits(v);
    if (wrong < v.errors) this.keep(v, wrong, v.run);
  }

  /** @param {Vector} v @param {number} wrong @param {number} run */
  keep(v, wrong, run) {
    [v.errors, v.bestRun, v.best] = [wrong, run, { w: v.w.slice(), b: v.b }];
  }

  /**
   * Look at the weights that an epoch ended with: always, until a vector does not improve; then after longer runs.
   * @param {number} epoch
   * @param {number[]} active
   * @param {number[]} updates
   */
  endEpoch(epoch, active, updates) {
    super.endEpoch(epoch, active, updates);
    for (const part of active) {
      const v = this.vectors[part];
      if (v.settled) {
        if (!updates[part]) v.run = Math.max(v.run, v.bestRun + 1);
        this.consider(v);
      } else this.improve(v);
    }
  }

  /** @param {Vector} v */
  improve(v) {
    const { label, sign } = this.task;
    const wrong = this.misfits(v);
    v.settled = wrong >= v.errors;
    if (v.settled) return;
    // The longest run to be expected of n trials with a share q of errors is log(n q) / q (Erdos and Renyi 1970).
    const examples = label.reduce((count, c) => count + Math.abs(sign[c][v.problem]), 0);
    const share = Math.max(wrong / examples, 1e-300);
    const expected = (0.5 * Math.log(Math.max(share * label.length, Math.E))) / share;
    this.keep(v, wrong, Math.max(v.run, Math.trunc(Math.min(expected, 2 ** 60))));
  }

  /** @param {Vector} v */
  plane(v) {
    return v.best ?? super.plane(v);
  }
}

/** Winnow (Littlestone 1988): weights factor^theta, and factor^theta - factor^-theta in the balanced form. */
class Winnow extends FirstOrder {
  /**
   * @param {Task} task
   * @param {{balanced: boolean, factor: number, threshold: number, eliminate: boolean, bias: number}} how
   */
  constructor(task, how) {
    super(task, perceptronRule(0), { bias: how.balanced ? how.bias : 0 });
    this.how = how;
    this.finite = false;
    if (!how.balanced) for (const v of this.vectors) [v.w, v.b] = [v.w.fill(1), -how.threshold];
  }

  /** @param {number} theta */
  link(theta) {
    const { balanced, factor } = this.how;
    const bound = HIGHEST_EXPONENT / Math.log(factor);
    const power = Math.min(theta, bound);
    return balanced ? factor ** Math.max(-bound, power) - factor ** -Math.max(-bound, power) : factor ** power;
  }

  /** @param {Vector} v @param {Row} row @param {number} sign @param {number} score */
  trial(v, row, sign, score) {
    const margin = sign * score;
    v.seen++;
    if (margin > 0) return this.outcome(0, 0, margin);
    row.at.forEach((j, k) => {
      const gone = this.how.eliminate && !this.how.balanced && sign * row.x[k] < 0;
      v.theta[j] = gone ? -Infinity : v.theta[j] + sign * row.x[k];
      v.w[j] = this.link(v.theta[j]);
    });
    if (this.bias) {
      v.thetaB += sign;
      v.b = this.link(v.thetaB);
    }
    return this.outcome(1, -margin, margin);
  }
}

/** @typedef {Record<string, any>} Params  with a value for every parameter of the learner */

/** @type {Record<string, (task: Task, params: Params) => FirstOrder>} */
export const LEARNERS = {
  Perceptron: (task, p) =>
    new FirstOrder(task, perceptronRule(p.margin / p.eta0), { bias: biasOf(p), eta: p.eta0, ...penaltyOf(p) }),
  AveragedPerceptron: (task, p) =>
    new FirstOrder(task, perceptronRule(p.margin / p.eta0), { bias: biasOf(p), eta: p.eta0, averaged: true }),
  VotedPerceptron: (task, p) =>
    Object.assign(new FirstOrder(task, perceptronRule(0), { bias: biasOf(p), averaged: true }), {
      predictor: "the vote",
      voted: true,
      derived: false,
    }),
  PocketPerceptron: (task, p) => new Pocket(task, biasOf(p)),
  PassiveAggressive: (task, p) =>
    new FirstOrder(task, (p.loss === "hinge" ? passiveAggressive : smoothPassiveAggressive)(p.C), {
      bias: biasOf(p),
      averaged: p.average,
    }),
  Adaline: (task, p) =>
    new FirstOrder(task, p.normalised ? normalisedLeastMeanSquares() : leastMeanSquares(), {
      bias: biasOf(p),
      averaged: p.average,
    }),
  Winnow(task, p) {
    const { balanced, factor, eliminate } = p;
    return new Winnow(task, {
      balanced,
      factor,
      eliminate,
      threshold: p.threshold ?? task.features / 2,
      bias: biasOf(p),
    });
  },
  SoftMargin(task, p) {
    const bounded = p.schedule !== "pegasos";
    const squared = squaredHinge(p.loss === "modified_huber" ? 2 : Infinity);
    const rule = p.loss === "hinge" ? hinge(bounded) : p.loss === "logistic" ? logistic(bounded) : squared;
    const late = p.average === null;
    const averaged = late ? p.penalty === null || p.penalty === "l2" : p.average;
    return new FirstOrder(task, rule, { bias: biasOf(p), ...penaltyOf(p), ...harmonicRate(p), averaged, late });
  },
};

/** @param {Params} p */
const biasOf = (p) => (p.fit_intercept ? 1 : 0);

/** @param {Params} p */
function penaltyOf(p) {
  if (p.penalty === null) return {};
  const share = p.penalty === "l1" ? 1 : p.penalty === "l2" ? 0 : p.l1_ratio;
  return { l1: p.alpha * share, l2: p.alpha * (1 - share) };
}

/** Return the rate 1 / (alpha (start + t)) of the schedules by trial. @param {Params} p */
function harmonicRate(p) {
  if (p.schedule === "pegasos") return { strength: p.alpha, start: 0 };
  if (p.schedule !== "optimal") return {};
  // Bottou's start: the first step is no longer than a weight of typical size.
  const typical = Math.sqrt(1 / Math.sqrt(p.alpha));
  /** @type {Record<string, number>} */
  const slopes = { squared_hinge: 2 * (1 + typical), modified_huber: 2 * Math.min(1 + typical, 2) };
  const steepest = slopes[p.loss] ?? 1;
  return { strength: p.alpha, start: Math.max(steepest / (typical * p.alpha) - 1, Number.EPSILON / 2 - 1) };
}
