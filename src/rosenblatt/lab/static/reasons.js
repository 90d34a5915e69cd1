// @ts-check
/** Why a run ended, as a sentence: the templates are those of `rosenblatt.training.stopping`, in the catalogue. */

/** @typedef {import("./types").Task} Task */
/** @typedef {import("./types").Plane} Plane */
/** @typedef {import("./types").PageLearner} PageLearner */
/** @typedef {{ending: any, mistakes: number[], losses: number[], updates: number, wrong: number | null,
 *   batch: boolean}} Finished */

// A run whose parts ended differently reports the first of these.
export const STOPS = ["diverged", "epochs", "training", "cycle", "separated"];
const FALL = 0.95;
const LEAST_EPOCHS = 10;

/**
 * Return a number in the format of Python's "g".
 * @param {number} value
 * @param {number} [digits]
 */
export function general(value, digits = 6) {
  if (!Number.isFinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  let [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  // Of a tie, JavaScript takes the larger number and Python the even one.
  const exact = value.toExponential(60).split("e")[0];
  const [kept, rest] = [exact.slice(0, mantissa.length), exact.slice(mantissa.length)];
  if (/^50*$/.test(rest) && "02468".includes(kept[kept.length - 1])) mantissa = kept;
  const short = (/** @type {string} */ text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  const e = Number(exponent);
  if (e >= -4 && e < digits) return short(Number(`${mantissa}e${e}`).toFixed(Math.max(0, digits - 1 - e)));
  return `${short(mantissa)}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}`;
}

/**
 * Return a number with its noun.
 * @param {number} n
 * @param {string} noun
 * @param {string} [nouns]
 */
export const countOf = (n, noun, nouns = `${noun}s`) => `${n} ${n === 1 ? noun : nouns}`;

/**
 * Return names as a list for a sentence.
 * @param {string[]} names
 */
const listed = (names) =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : names.join();

/**
 * Return whether a figure fell until the last epoch; true if there are too few epochs to say.
 * @param {number[]} figures
 */
function falls(figures) {
  if (figures.length < LEAST_EPOCHS) return figures.length === 1 || Math.min(...figures.slice(1)) < figures[0];
  const third = Math.floor(figures.length / 3);
  const sum = (/** @type {number[]} */ some) => some.reduce((total, value) => total + value, 0);
  return sum(figures.slice(-third)) <= FALL * sum(figures.slice(-2 * third, -third));
}

/**
 * Return the remedies for rows that no hyperplane separates, without what the run has already tried.
 * @param {PageLearner} learner
 */
function beyond(learner) {
  if (!learner.linear) return "another kernel, or another gamma, may help";
  const remedies = ["a kernel (KernelPerceptron)", "a soft margin (SoftMargin)"];
  if (!learner.derived) remedies.push("an average (AveragedPerceptron)");
  if (!learner.bias) remedies.unshift("a bias (fit_intercept=True)");
  return `${remedies.slice(0, -1).join(", ")} or ${remedies[remedies.length - 1]} may help`;
}

/**
 * Return whether all sums are exact, so that returning weights prove that nothing separates the rows.
 * @param {Task} task
 * @param {PageLearner} learner
 */
function cycleProves({ rows }, learner) {
  const numbers = [
    ...rows.map((row) => row.x),
    ...learner.vectors.map((/** @type {Plane} */ v) => [...v.w, v.b]),
  ].flatMap((part) => [...part]);
  const largest = Math.max(0, ...numbers.map(Math.abs));
  return numbers.every(Number.isInteger) && largest * (1 + rows.length) < 2 ** 53;
}

/**
 * Return why a run ended.
 * @param {Task} task
 * @param {PageLearner} learner
 * @param {Finished} run
 */
export function stopReason(task, learner, run) {
  const { ending, mistakes, losses } = run;
  const stops = /** @type {string[]} */ (ending.stops);
  const all = task.endings;
  const words = !learner.linear ? all.kernel : !learner.finite ? all.loss : run.batch ? all.batch : all.perceptron;
  const origin = learner.linear && !learner.bias ? " through the origin" : "";
  const inVain = "more epochs will hardly help";
  const wrong = mistakes[mistakes.length - 1];
  const figures = {
    totals: stops.length > 1 ? "" : ` (${countOf(run.updates, "update")} in ${countOf(mistakes.length, "epoch")})`,
    under: predictor(task, learner) ? "under the last weights, " : "",
    rows: "every row",
    epochs: String(mistakes.length),
    mistakes: String(wrong),
    wrong: countOf(wrong, "row"),
    "loss:.3g": general(losses[losses.length - 1], 3),
    "zero_loss:.3g": general(learner.zeroLoss, 3),
    remedy: learner.linear ? task.remedies[learner.rule.name] : "",
    beyond: beyond(learner),
    every: ending.length === 1 ? "every epoch" : `every ${ending.length} epochs`,
    plane: learner.linear ? `${task.joint ? "set of hyperplanes" : "hyperplane"}${origin}` : "",
    fewer_mistakes: falls(mistakes) ? ": allow more epochs" : `, and no longer fewer: ${inVain}; ${beyond(learner)}`,
    less_loss: falls(losses) ? ": allow more epochs" : `, and it no longer falls: ${inVain}`,
  };
  const filled = (/** @type {string} */ template) =>
    template.replace(/\{([^}]*)\}/g, (_, name) => /** @type {Record<string, string>} */ (figures)[name] ?? "");
  const sentence = (/** @type {string} */ stop) => {
    if (stop === "training") return filled(all.at_rest);
    if (stop !== "cycle") return filled(words[stop]);
    const cycle = filled(cycleProves(task, learner) ? all.cycle_proved : all.cycle_computed);
    return filled(words.cycle.replace("{cycle}", () => cycle));
  };
  return `${byPart(task, stops, sentence)}${prediction(task, learner, run)}.`;
}

/**
 * Return how the parts ended, with the names of the parts for each end.
 * @param {Task} task
 * @param {string[]} stops
 * @param {(stop: string) => string} sentence
 */
function byPart({ multiclass, names }, stops, sentence) {
  const ways = STOPS.filter((stop) => stops.includes(stop));
  if (stops.length === 1) return sentence(ways[0]);
  const pairs = names.flatMap((k, i) => names.slice(i + 1).map((l) => `(${k}, ${l})`));
  const [parts, noun, nouns] = multiclass.startsWith("ovo")
    ? [pairs, "pair", "pairs"]
    : [names.map(String), "class", "classes"];
  if (ways.length === 1) return `all ${stops.length} ${nouns}: ${sentence(ways[0])}`;
  return ways
    .map((way) => {
      const ended = parts.filter((_, part) => stops[part] === way);
      return `${ended.length} of ${countOf(stops.length, noun, nouns)} (${listed(ended)}): ${sentence(way)}`;
    })
    .join("; ");
}

/**
 * Return what predicts, if not the last weights.
 * @param {Task} task
 * @param {PageLearner} learner
 */
function predictor(task, learner) {
  if (learner.predictor) return learner.predictor;
  return task.multiclass === "ovo" && task.sign[0].length > 1 ? "the sum of the scores of all pairs" : "";
}

/**
 * Return how the predictor does on the rows, if it is not the weights that have every row on its side.
 * @param {Task} task
 * @param {PageLearner} learner
 * @param {Finished} run
 */
function prediction(task, learner, { ending, wrong }) {
  const what = predictor(task, learner);
  if (!what || ending.stops.some((/** @type {string} */ stop) => stop !== "separated")) return "";
  const errs = wrong === null ? "may err on some" : wrong ? `errs on ${wrong}` : "errs on none";
  return `; ${what}, by which the model predicts, ${errs} of them`;
}
