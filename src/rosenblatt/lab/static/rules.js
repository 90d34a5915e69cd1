// @ts-check
/**
 * Rules: how far a row moves the weights, and the loss that it stands for.
 *
 * A rule takes the margin y f(x) of a row, its squared length (the 1 of the bias included; twice that if two vectors
 * move) and the learning rate. It returns the step, after which the weights are w + step y x, and the loss.
 */

/** @typedef {(margin: number, square: number, rate: number) => [number, number]} Respond */
/**
 * @typedef {{respond: Respond, finite: boolean, unit: boolean, zeroLoss: number, name: string}} Rule
 *   finite: separable rows cause finitely many updates; unit: a step is the rate, which then only scales the weights;
 *   zeroLoss: loss of zero weights, if a growing loss is a fault
 */

/** @type {[number, number]} */
const REST = [0, 0];

/**
 * @param {string} name
 * @param {Respond} respond
 * @param {Partial<Rule>} [facts]
 * @returns {Rule}
 */
const rule = (name, respond, facts) => ({ name, respond, finite: false, unit: false, zeroLoss: Infinity, ...facts });

/** Rosenblatt (1958): one step, whenever y f(x) is not above the wanted margin. @param {number} wanted */
export const perceptronRule = (wanted) =>
  rule("perceptron", (margin, _, rate) => (margin > wanted ? REST : [rate, wanted - margin]), {
    finite: true,
    unit: true,
  });

/** Crammer et al. (2006), PA-I: the shortest step to a margin of one, at most C. @param {number} C */
export const passiveAggressive = (C) =>
  rule("passive_aggressive", (margin, square) =>
    margin >= 1 ? REST : [square > 0 ? Math.min(C, (1 - margin) / square) : 0, 1 - margin],
  );

/** Crammer et al. (2006), PA-II: a shorter step, the more so the smaller C is. @param {number} C */
export const smoothPassiveAggressive = (C) =>
  rule("smooth_passive_aggressive", (margin, square) =>
    margin >= 1 ? REST : [(1 - margin) / (square + 0.5 / C), (1 - margin) * (1 - margin)],
  );

/** Widrow and Hoff (1960): always a step, against the squared error. */
export const leastMeanSquares = () =>
  rule("least_mean_squares", (margin, _, rate) => [rate * (1 - margin), 0.5 * (1 - margin) * (1 - margin)], {
    zeroLoss: 0.5,
  });

/** The same, divided by the squared length of the row. */
export const normalisedLeastMeanSquares = () =>
  rule(
    "normalised_least_mean_squares",
    (margin, square, rate) => [square === 0 ? 0 : (rate * (1 - margin)) / square, 0.5 * (1 - margin) * (1 - margin)],
    { zeroLoss: 0.5 },
  );

/** A step against max(0, 1 - m); if bounded, not beyond a margin of one. @param {boolean} bounded */
export const hinge = (bounded) =>
  rule(
    "hinge",
    (margin, square, rate) => {
      if (margin >= 1) return REST;
      return [bounded && square > 0 ? Math.min(rate, (1 - margin) / square) : rate, 1 - margin];
    },
    { zeroLoss: 1 },
  );

/**
 * A step against max(0, 1 - m)^2, but not beyond a margin of one. From a distance to it on the loss may be a line.
 * @param {number} [linearFrom]
 */
export const squaredHinge = (linearFrom = Infinity) =>
  rule(
    "squared_hinge",
    (margin, square, rate) => {
      if (margin >= 1) return REST;
      const loss = 1 - margin;
      const slope = Math.min(loss, linearFrom);
      const step = slope * (2 * rate);
      return [step * (loss / Math.max(loss, step * square)), slope * (2 * loss - slope)];
    },
    { zeroLoss: 1 },
  );

/**
 * A step against log(1 + e^-m); if bounded, as far as many small steps go (Karampatziakis and Langford 2011).
 * @param {boolean} bounded
 */
export const logistic = (bounded) =>
  rule(
    "logistic",
    (margin, square, rate) => {
      const small = Math.exp(-Math.abs(margin));
      const [top, total] = [margin > 0 ? small : 1, 1 + small];
      const loss = Math.log1p(small) + Math.max(0, -margin);
      const path = rate * square * top;
      if (!bounded || path <= 0.01 * total) return [(rate * top) / total, loss];
      if (path > total) {
        const moved = flow(margin, (total - top) / top, rate * square) - margin;
        return [Math.min((rate * top) / total, Math.max(0, moved) / square), loss];
      }
      const six = 6 * total * total;
      const step = (rate * top * (six + (total - 3 * top) * path)) / (total * (six + (4 * total - 6 * top) * path));
      return [step, loss];
    },
    { zeroLoss: Math.log(2) },
  );

/**
 * Return the margin z after many small steps: z + e^z = m + e^m + path, by Lambert's function.
 * @param {number} margin
 * @param {number} growth  e^m
 * @param {number} path
 */
function flow(margin, growth, path) {
  const x = margin + growth + path;
  const w = x >= 1 ? 0.86 * x + 0.01 : Math.exp(0.8 * x - 0.65);
  const r = x >= 1 ? x - Math.log(w) - w : 0.2 * x + 0.65 - w;
  const t = 1 + w;
  const u = 2 * t * (t + (2 * r) / 3);
  return x - w * (1 + ((r / t) * (u - r)) / (u - 2 * r));
}
