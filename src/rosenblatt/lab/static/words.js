// @ts-check
/** The settings in the words of the lectures. What is not here is named as in the library. */

/** @type {Record<string, {title: string, sentence: string}>} */
export const WORDS = {
  eta0: { title: "rate \u03b7", sentence: "How far an update goes: w \u2190 w + \u03b7 y x." },
  schedule: { title: "rate by epoch", sentence: "Whether the rate falls from epoch to epoch." },
  margin: { title: "margin", sentence: "A row is corrected while y f(x) is at most this. 0: only mistakes are." },
  batch: { title: "batch", sentence: "One update per epoch, by the sum of y x over all misclassified points." },
  penalty: { title: "penalty", sentence: "Shrink the weights a little in each trial." },
  alpha: { title: "strength", sentence: "Of the penalty." },
  l1_ratio: { title: "share of L1", sentence: "In the elastic net: 0 is L2, 1 is L1." },
  fit_intercept: { title: "bias b", sentence: "Without it the boundary goes through the origin." },
  multiclass: { title: "classes", sentence: "How more than two classes are learned." },
  kernel: { title: "kernel", sentence: "In place of x\u00b7z. Gaussian: exp(\u2212\u03b3|x \u2212 z|\u00b2)." },
  degree: { title: "degree", sentence: "For the polynomial kernel only." },
  gamma: { title: "width \u03b3", sentence: "A larger one bends the boundary more. Empty: chosen from the data." },
  coef0: { title: "constant", sentence: "For the polynomial kernel only: the 1 in (1 + x\u00b7z)\u00b2." },
  budget: { title: "budget", sentence: "Maximum number of rows that count. Empty: no limit." },
  budget_rule: { title: "full budget", sentence: "How a budget learns: it keeps its rows, or one makes room." },
  average: { title: "average", sentence: "Predict by the average of the weights of all trials." },
  normalised: { title: "normalised", sentence: "Divide steps by the squared length of the row." },
  balanced: { title: "both signs", sentence: "Weights may be of either sign, by two vectors." },
  factor: { title: "factor", sentence: "By which the weights are multiplied or divided." },
  threshold: { title: "threshold", sentence: "Of w\u00b7x. Empty: half the number of features." },
  eliminate: { title: "eliminate", sentence: "Set weights to zero instead of dividing them (Winnow1)." },
  C: { title: "largest step C", sentence: "A smaller one forgives noisy rows." },
  loss: { title: "loss", sentence: "What a row with a small margin costs." },
  approximation: { title: "approximation", sentence: "Share of the largest margin that may be lost." },
  p: { title: "norm p", sentence: "2 is the perceptron; more suits a few large features." },
  aggressive: { title: "aggressive", sentence: "Correct rows with y f(x) < 1, not mistakes alone." },
  r: { title: "r", sentence: "A larger one takes smaller steps." },
  covariance: { title: "confidence", sentence: "A variance for each weight, or the whole matrix." },
  n: { title: "points", sentence: "How many." },
  noise: { title: "noise", sentence: "" },
  data_seed: { title: "seed of the data", sentence: "Another seed draws other points." },
  seed: { title: "seed", sentence: "For shuffling and random units." },
  epochs: { title: "epochs", sentence: "Maximum number." },
  units: { title: "units", sentence: "How many association units." },
};

/** @type {Record<string, string>} */
const VALUES = {
  ovr: "one against the rest",
  ovo: "pairs, sums of scores",
  "ovo-vote": "pairs, votes",
  joint: "all classes at once",
  linear: "linear, x\u00b7z",
  quadratic: "quadratic, (1 + x\u00b7z)\u00b2",
  poly: "polynomial",
  rbf: "Gaussian",
  laplacian: "Laplace",
  cosine: "cosine of the angle",
  random: "one at random",
  forgetron: "the oldest, and all shrink",
  projectron: "none: the new row is projected",
  squared_hinge: "squared hinge",
  modified_huber: "modified Huber",
  elasticnet: "elastic net",
  l1: "L1",
  l2: "L2",
  step: "halved every ten epochs",
  true: "yes",
  false: "no",
};

/** Settings that matter only for some values of another. */
const NEEDS = /** @type {Record<string, [string, any[]]>} */ ({
  alpha: ["penalty", ["l1", "l2", "elasticnet"]],
  l1_ratio: ["penalty", ["elasticnet"]],
  degree: ["kernel", ["poly"]],
  coef0: ["kernel", ["poly"]],
  gamma: ["kernel", ["poly", "rbf", "laplacian"]],
});

/**
 * Return whether a setting matters under the values of the others.
 * @param {string} name
 * @param {Record<string, any>} params
 * @param {import("./types").Control[]} controls
 */
export function matters(name, params, controls) {
  const [other, values] = NEEDS[name] ?? [];
  const control = controls.find((one) => one.name === other);
  if (!other || !control || !values) return name === "budget_rule" ? Boolean(params.budget) : true;
  return values.includes(params[other] === undefined ? control.default : params[other]);
}

/**
 * Return a value of a choice for people.
 * @param {any} value
 */
export const valueName = (value) => (value === null ? "none" : (VALUES[String(value)] ?? String(value)));
