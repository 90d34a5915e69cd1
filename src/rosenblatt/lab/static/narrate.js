// @ts-check
/**
 * Describes a trial in the words of the lectures, with its numbers. In a sentence, formulas are between backticks, x_3
 * is x with an index, and a formula that begins with "!" is the change that was made.
 */
import { counted, make, makeMath, short } from "./elements.js";
import { className, classScores, misclassified, modeOf, ROUNDS, votesOf, weightsOf, winnerOf } from "./frames.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Vector} Vector */

const MOST_SHOWN = 6; // numbers of the weights in a sentence
const NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

/** @param {number} n @param {string} word @param {string} [many] */
const inWords = (n, word, many = `${word}s`) =>
  n < NUMBERS.length ? `${NUMBERS[n]} ${n === 1 ? word : many}` : counted(n, word, many);

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {Vector} values */
const tuple = (values) => `(${Array.from(values, (v) => short(v)).join(", ")})`;

/** @param {Vector} w */
const withoutBias = (w) => Array.from(w).slice(0, -1);

/** @param {Vector} values */
const isZero = (values) => Array.from(values).every((v) => v === 0);

/**
 * Return a step along a row, such as "+ 0.5 x_3"; a factor of one is left out.
 * @param {number} factor
 * @param {string} what
 */
function stepped(factor, what) {
  const size = Math.abs(factor);
  const number = short(size) === "1" ? "" : short(size);
  return `${factor < 0 ? "\u2212" : "+"} ${number && what ? `${number} ${what}` : what || number || "1"}`;
}

/**
 * Return the factor f if f times the row was added to the weights; NaN if it was not a multiple of the row.
 * @param {Frame} frame
 * @param {Vector} w
 * @param {Vector} old
 */
function factorOf(frame, w, old) {
  const x = frame.x;
  if (!x || w.length !== x.length + 1) return Number.NaN;
  const last = x.length;
  const squared = Array.from(x).reduce((sum, v) => sum + v * v, 0);
  const along = Array.from(x).reduce((sum, v, j) => sum + v * (w[j] - old[j]), 0);
  const factor = w[last] !== old[last] ? w[last] - old[last] : squared ? along / squared : 0;
  const size = Math.max(1e-300, ...Array.from(w, Math.abs), ...Array.from(old, Math.abs));
  const fits = Array.from(x).every((v, j) => Math.abs(w[j] - old[j] - factor * v) <= 1e-9 * size);
  return fits ? factor : Number.NaN;
}

/**
 * Return an update, such as "w <- w + x_3 = (1, 2) and b <- b + 1 = 0".
 * @param {Frame} frame
 * @param {Vector} w
 * @param {Vector} old
 * @param {string} index  of the problem, such as "_2"
 */
function correction(frame, w, old, index = "") {
  const bias = w[w.length - 1];
  const step = bias - old[old.length - 1];
  const [v, b] = [`w${index}`, `b${index}`];
  const mapped = frame.x !== null && w.length !== frame.x.length + 1;
  const factor = mapped ? step : factorOf(frame, w, old);
  if (mapped && !step) return `\`!${v}\` changes`;
  const shown = w.length <= MOST_SHOWN ? ` = ${tuple(withoutBias(w))}` : "";
  if (Number.isNaN(factor)) return `\`!${v}${shown}\` and \`!${b} = ${short(bias)}\``;
  const row = mapped ? `\u03c6(x_${frame.row + 1})` : `x_${frame.row + 1}`;
  const first = `\`!${v} \u2190 ${v} ${stepped(factor, row)}${shown}\``;
  if (!step) return first;
  return `${first} and \`!${b} \u2190 ${b} ${stepped(factor, "")} = ${short(bias)}\``;
}

/** @param {Frame} frame */
const corrected = (frame) => correction(frame, frame.w, frame.old);

/**
 * Return the classes on the two sides of a problem, numbered from 1 as they are drawn.
 * @param {Run} run
 * @param {number} problem
 */
function sidesOf(run, problem) {
  const on = (/** @type {number} */ sign) =>
    run.about.signs.flatMap((row, c) => (row[problem] === sign ? [(run.about.numbers?.[c] ?? c) + 1] : []));
  return { plus: on(1), minus: on(-1) };
}

/**
 * Return the index of a problem: "_2" for one class against the rest, "_1,2" for a pair, the positive class first.
 * @param {Run} run
 * @param {number} problem
 */
export function problemIndex(run, problem) {
  const { plus, minus } = sidesOf(run, problem);
  return `_${plus.length === 1 && minus.length === 1 ? `${plus[0]},${minus[0]}` : (plus[0] ?? problem + 1)}`;
}

const EXHAUSTED = "but it has counted as often as a row may: nothing changes";

/**
 * Return the scores of the problems that a row takes part in, such as "f_1 = 2, f_2 = -1".
 * @param {Run} run
 * @param {Frame} frame
 */
function problemScores(run, frame) {
  const signs = run.about.signs[frame.label] ?? [];
  return Array.from(frame.scores, (f, p) => (signs[p] ? [`\`f${problemIndex(run, p)} = ${short(f)}\``] : []))
    .flat()
    .join(", ");
}

/** Return how the scores of the classes decide, where that is not plain from those of the problems. */
function decided(/** @type {Run} */ run, /** @type {Frame} */ frame) {
  if (!modeOf(run).startsWith("ovo")) return "";
  const votes = modeOf(run) === "ovo-vote";
  const winner = winnerOf(run, frame.scores);
  const shown = votes ? votesOf(run, frame.scores) : classScores(run, frame.scores);
  const what = votes ? "Votes of the pairs for each class" : "Sums of the signed scores of each class";
  const right = winner === frame.label ? "" : `, not ${className(run, frame.label)}`;
  return ` ${what}: \`${tuple(shown)}\`, so it is put into class ${className(run, winner)}${right}.`;
}

/** @param {Run} run @param {Frame} frame */
function ofClasses(run, frame) {
  const name = `\`x_${frame.row + 1}\` of class ${className(run, frame.label)}`;
  const changes = [];
  for (let p = 0; p < run.k && run.W.length > run.width; p++) {
    const [now, then] = [weightsOf(run, frame.state, p), weightsOf(run, frame.before, p)];
    if (!Array.from(now).every((v, j) => v === then[j])) {
      changes.push(correction(frame, now, then, problemIndex(run, p)));
    }
  }
  const scores = problemScores(run, frame);
  const end = decided(run, frame);
  if (!frame.update && frame.mistake) return `${name} is misclassified: ${scores}, ${EXHAUSTED}.${end}`;
  if (!frame.update) {
    const mode = modeOf(run);
    const fine =
      mode === "joint"
        ? "has the highest score for its own class"
        : mode.startsWith("ovo")
          ? "is on its side in each of its pairs"
          : "is on its side for every class";
    return `${name} ${fine}: ${scores}, nothing changes.${end}`;
  }
  const wrong = frame.mistake ? "is misclassified" : "is too close";
  if (run.slot) changes.push("it counts once more");
  return `${name} ${wrong}: ${scores}${changes.length ? `, so ${changes.slice(0, 3).join("; ")}` : ""}.${end}`;
}

/** @type {Record<string, (run: Run, frame: Frame) => string>} */
const RULES = {
  perceptron(_, frame) {
    if (frame.changed && !frame.mistake) return `${tooClose(frame)}: ${corrected(frame)}.`;
    if (!frame.mistake) return `${onItsSide(frame)}, nothing changes.`;
    return `${wrongSide(frame)}, so ${corrected(frame)}.`;
  },
  passive_aggressive(_, frame) {
    const margin = `\`y f(x) = ${short(frame.sign * frame.score)}`;
    const name = `\`x_${frame.row + 1}\``;
    if (!frame.changed) return `${name} has its margin: ${margin} \u2265 1\`, so it is passive: nothing changes.`;
    const where = frame.mistake ? "is misclassified" : "is on its side, but too close";
    return `${name} ${where}: ${margin} < 1\`, loss ${short(frame.loss)}. It is aggressive: ${corrected(frame)}.`;
  },
  arow(_, frame) {
    if (!frame.changed) return `${onItsSide(frame)}, with its margin: nothing changes.`;
    const name = `\`x_${frame.row + 1}\``;
    const margin = `\`y f(x) = ${short(frame.sign * frame.score)}\``;
    return `${name}: ${margin}, loss ${short(frame.loss)}. Uncertain weights move most: ${corrected(frame)}.`;
  },
  adaline(run, frame) {
    if (frame.row < 0) return batch(run, frame);
    const wanted = `\`x_${frame.row + 1}\` should score \`y = ${short(frame.sign)}\``;
    const error = short(frame.sign - frame.score);
    if (!frame.changed) return `${wanted} and does: nothing changes.`;
    return `${wanted} and scores \`f(x) = ${short(frame.score)}\`: the error is ${error}, so ${corrected(frame)}.`;
  },
  winnow(_, frame) {
    if (!frame.changed) return `${onItsSide(frame)}, nothing changes.`;
    return `${wrongSide(frame)}, so each weight is multiplied by a power of its feature: ${corrected(frame)}.`;
  },
  projected(_, frame) {
    if (!frame.changed) return `${onItsSide(frame)}, and far enough: nothing changes.`;
    const where = frame.mistake ? wrongSide(frame) : tooClose(frame);
    return `${where}, so the weights move towards the widest margin: ${corrected(frame)}.`;
  },
  p_norm(_, frame) {
    if (!frame.changed) return `${onItsSide(frame)}, nothing changes.`;
    const way = "so the row is added to a sum, and the weights follow its largest entries";
    return `${wrongSide(frame)}, ${way}: ${corrected(frame)}.`;
  },
  soft_margin(run, frame) {
    if (frame.row < 0) return batch(run, frame);
    const margin = `\`x_${frame.row + 1}\`: \`y f(x) = ${short(frame.sign * frame.score)}\``;
    if (!frame.changed) return `${margin}, loss ${short(frame.loss)}: nothing changes.`;
    const pull = frame.loss > 0 ? "its pull and the penalty give" : "the penalty alone gives";
    return `${margin}, loss ${short(frame.loss)}: ${pull} ${corrected(frame)}.`;
  },
  own(_, frame) {
    const row = `\`x_${frame.row + 1}\`: \`y f(x) = ${short(frame.sign * frame.score)}\`, loss ${short(frame.loss)}`;
    if (!frame.changed) return `${row}. The rule leaves the weights as they are.`;
    return `${row}. The rule moves the weights: ${corrected(frame)}.`;
  },
  kernel(run, frame) {
    if (!frame.update && frame.mistake) return `${wrongSide(frame)}, ${EXHAUSTED}.`;
    if (!frame.update) return `${onItsSide(frame)}, nothing changes.`;
    const where = frame.mistake ? wrongSide(frame) : tooClose(frame);
    const name = `\u03b1_${frame.row + 1}`;
    const alpha = short(Math.abs(frame.alpha?.[frame.row] ?? 0));
    const params = run.about.scene.params;
    const rule = params?.budget ? (params.budget_rule ?? "arow") : "";
    if (rule === "arow") return `${where}: \`f\` moves towards it by the rows that count, most where it varied least.`;
    if (rule === "projectron" && alpha === "0")
      return `${where}, and close to a sum of the rows that count: its share goes to them.`;
    const shrinks = rule === "forgetron" && frame.dropped;
    const victim = shrinks
      ? "every count shrinks, and the oldest row is dropped"
      : "a row, drawn at random, is dropped";
    const change = shrinks ? `: \`!${name} = ${alpha}\`` : ` once more: \`!${name} \u2190 ${name} + 1 = ${alpha}\``;
    const dropped = frame.dropped ? ` The budget is full: ${victim}.` : "";
    return `${where}, so it counts${change}.${dropped}`;
  },
};
RULES.pocket = RULES.perceptron;

/** @param {Frame} frame */
function wrongSide(frame) {
  const margin = frame.sign * frame.score;
  const tie = margin === 0 ? ", a tie" : "";
  return `\`x_${frame.row + 1}\` is misclassified: \`y f(x) = ${short(margin)} \u2264 0\`${tie}`;
}

/** @param {Frame} frame */
function tooClose(frame) {
  return `\`x_${frame.row + 1}\` is on its side, but too close: \`y f(x) = ${short(frame.sign * frame.score)}\``;
}

/** @param {Frame} frame */
function onItsSide(frame) {
  return `\`x_${frame.row + 1}\` is on its side: \`y f(x) = ${short(frame.sign * frame.score)} > 0\``;
}

/**
 * Return the names of rows: "x_1 to x_4", "x_1, x_3 and 5 more".
 * @param {number[]} rows
 */
function rowNames(rows) {
  const runs = /** @type {number[][]} */ ([]);
  for (const i of rows) {
    const last = runs.at(-1);
    if (last && last[last.length - 1] === i - 1) last.push(i);
    else runs.push([i]);
  }
  const named = (/** @type {number} */ i) => `\`x_${i + 1}\``;
  const parts = runs.flatMap((run) =>
    run.length > 2 ? [`${named(run[0])} to ${named(run[run.length - 1])}`] : run.map(named),
  );
  const more = parts.length > MOST_SHOWN ? ` and ${counted(parts.length - MOST_SHOWN, "other")}` : "";
  return parts.slice(0, MOST_SHOWN).join(", ") + more;
}

/** @param {Run} run @param {Frame} frame */
function batch(run, frame) {
  const { margin, penalty } = run.about.scene.params ?? {};
  const summed = run.about.rule === "perceptron" && !margin && !penalty;
  const rows = summed ? misclassified(run, frame.t) : undefined;
  if (!rows) {
    const which = run.about.scene.order === "random" ? `${run.n} points drawn at random` : `All ${run.n} points`;
    return `${which} at once, loss ${short(frame.loss)}: ${corrected(frame)}.`;
  }
  if (!rows.length) return "No point is misclassified: nothing changes.";
  const sum = rows.length === 1 ? "It is added with its sign" : "Their sum, each with its sign, is added";
  return `Misclassified: ${rowNames(rows)}. ${sum}: ${corrected(frame)}.`;
}

/** @param {Run} run @param {Frame} frame */
function opening(run, frame) {
  const classes = run.about.classes.length;
  const about = `${capital(inWords(run.n, "point"))}, ${inWords(classes, "class", "classes")}.`;
  if (!run.trials) return `${about} ${capital(reasonOf(run))}`;
  const dual = run.slot !== undefined;
  if (!dual && !isZero(run.W.subarray(0, run.k * run.width))) {
    const bias = short(frame.w[frame.w.length - 1]);
    return `${about} The weights start at \`w = ${tuple(withoutBias(frame.w))}\`, \`b = ${bias}\`. Press space.`;
  }
  const zero = dual
    ? "No row counts yet, so f is zero everywhere: every point"
    : "The weights are zero, so every point";
  return `${about} ${zero} is a tie, and a tie is a mistake. Press space.`;
}

/**
 * Return the sentence that describes a frame.
 * @param {Run} run
 * @param {Frame} frame
 * @returns {string}
 */
export function describe(run, frame) {
  if (!frame.t) return opening(run, frame);
  if (run.about.classes.length > 2 && frame.row >= 0) return ofClasses(run, frame);
  if (frame.row < 0) return batch(run, frame);
  return (RULES[run.about.rule] ?? RULES.perceptron)(run, frame);
}

/**
 * Return the engine's reason for the end of a run as a sentence of the page.
 * @param {Run} run
 */
function reasonOf(run) {
  return (run.about.stop || run.about.reason)
    .replace(/within a share of \S+e-1\d of the largest possible/, "the largest possible, up to rounding")
    .replace("has the margin that it should", "has the required margin")
    .replace(/\.?$/, ".");
}

/**
 * Return why a run ended, from its last trial on; otherwise an empty text.
 * @param {Run} run
 * @param {Frame} frame
 */
export function describeEnd(run, frame) {
  if (!run.ended || frame.t < run.ended) return "";
  if (run.about.cycle) return describeCycle(run, frame, run.about.cycle);
  const why = reasonOf(run);
  const left = run.about.trials_left_out;
  const more = left ? ` ${counted(left, "trial")} more are not shown. Use fewer epochs or points to see all.` : "";
  return `The end: ${why}${more}`;
}

/**
 * @param {Run} run
 * @param {Frame} frame
 * @param {number} cycle  its epochs
 */
function describeCycle(run, frame, cycle) {
  const where = isZero(weightsOf(run, run.at[run.ended - 1])) ? "at zero" : "where they were";
  const length = cycle === 1 ? "an epoch" : `${inWords(cycle, "epoch")}`;
  const round = Math.floor((frame.t - run.ended) / ((run.trials - run.ended) / ROUNDS || 1));
  if (frame.t > run.ended && frame.t < run.trials) return `Round ${round + 2} of the cycle: the same trials again.`;
  const back = `The weights are back ${where} after ${length}: from here it would repeat for ever.`;
  const line = run.phi || run.d !== 2 ? "hyperplane" : "line";
  const hint = run.phi ? "" : ` No ${line} separates these points; squares and products as features, or a kernel, may.`;
  return back + (frame.t === run.ended && run.trials > run.ended ? `${hint} Step on, and watch it go round.` : hint);
}

/**
 * Return a sentence as plain text.
 * @param {string} sentence
 */
export function plain(sentence) {
  return sentence.replace(/`!?/g, "").replace(/_/g, "");
}

// a letter with or without an index; a number, with its sign unless that is a subtraction; any other character
const PIECES = /[A-Za-z\u03b1-\u03c9](_[\d,]+)?|((?<=[(,=\u2190\u2264<>] ?)\u2212)?[\d.]*\d(e[+\u2212]?\d+)?|\S/gu;

/**
 * Return a formula as MathML.
 * @param {string} text
 */
function formula(text) {
  const change = text.startsWith("!");
  const pieces = text.slice(change ? 1 : 0).match(PIECES) ?? [];
  const nodes = pieces.map((piece) => {
    const [letter, index] = piece.split("_");
    if (index) return makeMath("msub", makeMath("mi", letter), makeMath("mn", index));
    if (/^[A-Za-z\u03b1-\u03c9]$/u.test(piece)) return makeMath("mi", piece);
    return makeMath(/\d/.test(piece) || piece === "\u221e" ? "mn" : "mo", piece);
  });
  const node = makeMath("math", ...nodes);
  if (change) node.setAttribute("class", "change");
  return node;
}

/**
 * Return a sentence as nodes, with its formulas in MathML.
 * @param {string} sentence
 * @returns {(Node | string)[]}
 */
export function typeset(sentence) {
  return sentence.split("`").map((piece, i) => (i % 2 ? make("span", { class: "formula" }, formula(piece)) : piece));
}
