// @ts-check
/** The kernel perceptron: alpha_i + 1 on a mistake, where f(x) is the sum of alpha_i y_i k(x_i, x). */

/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").Task} Task */
/** @typedef {(x: ArrayLike<number>, z: ArrayLike<number>) => number} Kernel */

/**
 * Return the sum over the coordinates.
 * @param {ArrayLike<number>} x
 * @param {(j: number) => number} term
 */
function sumOver(x, term) {
  let sum = 0;
  for (let j = 0; j < x.length; j++) sum += term(j);
  return sum;
}

/** @type {Kernel} */
const innerProduct = (x, z) => sumOver(x, (j) => x[j] * z[j]);

/**
 * Return a power by products, so that integers stay exact.
 * @param {number} base
 * @param {number} degree
 */
function power(base, degree) {
  let result = 1;
  for (const bit of degree.toString(2)) result = result * result * (bit === "1" ? base : 1);
  return result;
}

/**
 * Return the kernel that the parameters describe.
 * @param {Record<string, any>} p
 * @param {number[][]} X  the rows, which decide the width if gamma is not given
 * @returns {Kernel}
 */
export function kernelOf(p, X) {
  const gamma = p.gamma ?? (p.kernel === "poly" ? 1 : 1 / (X[0].length * variance(X) || 1));
  /** @type {Record<string, Kernel>} */
  const kernels = {
    linear: innerProduct,
    quadratic: (x, z) => power(1 + innerProduct(x, z), 2),
    poly: (x, z) => power(gamma * innerProduct(x, z) + p.coef0, p.degree),
    rbf: (x, z) => Math.exp(-gamma * Math.max(0, innerProduct(x, x) + innerProduct(z, z) - 2 * innerProduct(x, z))),
    laplacian: (x, z) => Math.exp(-gamma * sumOver(x, (j) => Math.abs(x[j] - z[j]))),
    cosine: (x, z) => innerProduct(x, z) / (Math.sqrt(innerProduct(x, x)) || 1) / (Math.sqrt(innerProduct(z, z)) || 1),
  };
  const kernel = kernels[p.kernel];
  return p.fit_intercept ? (x, z) => kernel(x, z) + 1 : kernel;
}

/** @param {number[][]} X */
export function variance(X) {
  const values = X.flat();
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
}

/** The learner, as `engine.js` sees it. The vector of a problem is its scores of all rows. */
export class KernelPerceptron {
  /**
   * @param {Task} task
   * @param {Record<string, any>} params
   * @param {number[][]} X
   */
  constructor(task, params, X) {
    this.task = task;
    this.X = X;
    this.margin = /** @type {number} */ (params.margin ?? 0);
    this.kernel = kernelOf(params, X);
    this.vectors = task.sign[0].map((_, problem) => ({
      problem,
      scores: new Float64Array(X.length),
      seen: 0,
      w: new Float64Array(0),
      b: 0,
    }));
    /** @type {Map<number, number>} */
    this.slots = new Map(); // of the rows that were ever mistaken, in the order of their first mistakes
    /** @type {{slot: number, problem: number, step: number, state: number}[]} */
    this.log = []; // of the updates; the state is the number of trials with an update
    /** @type {Map<number, Float64Array>} */
    this.columns = new Map(); // similarities of a row with all rows
    this.states = 0;
    // As of a linear learner: see `FirstOrder`.
    this.finite = this.restsWhenClean = true;
    this.linear = this.penalised = this.voted = this.derived = this.late = false;
    this.unit = 1;
    this.zeroLoss = Infinity;
    this.predictor = "";
  }

  /** @param {Row} row */
  column(row) {
    const known = this.columns.get(row.number);
    if (known) return known;
    const column = Float64Array.from(this.X, (x) => this.kernel(this.X[row.number], x));
    this.columns.set(row.number, column);
    return column;
  }

  /** @param {{scores: Float64Array}} v @param {Row} row */
  score(v, row) {
    return v.scores[row.number];
  }

  /**
   * Learn from a row with y = sign.
   * @param {any} v
   * @param {Row} row
   * @param {number} sign
   * @param {number} score
   */
  trial(v, row, sign, score) {
    const mistaken = !(sign * score > this.margin);
    if (mistaken) this.move(v, row, sign);
    return { update: mistaken, mistake: !(sign * score > 0), loss: mistaken ? this.margin - sign * score : 0 };
  }

  /**
   * Learn from a row of class c: towards c, away from the best other class.
   * @param {any[]} vectors
   * @param {Row} row
   * @param {number} c
   * @param {ArrayLike<number>} scores
   */
  jointTrial(vectors, row, c, scores) {
    let wrong = c ? 0 : 1;
    for (let k = 0; k < vectors.length; k++) if (k !== c && scores[k] > scores[wrong]) wrong = k;
    const margin = scores[c] - scores[wrong];
    const mistaken = !(margin > this.margin);
    if (mistaken) for (const k of c < wrong ? [c, wrong] : [wrong, c]) this.move(vectors[k], row, k === c ? 1 : -1);
    return { update: mistaken, mistake: !(margin > 0), loss: mistaken ? this.margin - margin : 0 };
  }

  /** @param {any} v @param {Row} row @param {number} step */
  move(v, row, step) {
    if (!this.slots.has(row.number)) this.slots.set(row.number, this.slots.size);
    const slot = /** @type {number} */ (this.slots.get(row.number));
    this.log.push({ slot, problem: v.problem, step, state: this.states });
    const column = this.column(row);
    for (let i = 0; i < column.length; i++) v.scores[i] += step * column[i];
  }

  /** Return the number of the state, which is new after every update: the coefficients are in the log. */
  weights() {
    return Float64Array.of(this.states++);
  }

  beginEpoch() {}

  endEpoch() {
    if (this.vectors.every((v) => v.scores.every(Number.isFinite))) return;
    throw new Error(
      "The scores overflowed float64: similarities are too large. Scale the data, for example with StandardScaler, " +
        "or lower gamma or degree.",
    );
  }

  penalties() {
    return this.vectors.map(() => 0);
  }

  /** @param {number} part */
  fits(part) {
    const { label, sign, joint } = this.task;
    return label.every((c, i) => {
      const scores = this.vectors.map((v) => v.scores[i]);
      if (joint) return scores.every((score, k) => k === c || scores[c] - score > this.margin);
      const y = sign[c][part];
      return !y || y * scores[part] > this.margin;
    });
  }
}
