// @ts-check
/** What a certificate says, for the page to draw and to print. Rows are numbered from 1. */
import { decimals, fromHex, nearestDouble, primitive } from "./exact.js";

/** @typedef {import("./types").Certificate} Certificate */
/** @typedef {import("./types").Point} Point */
/** @typedef {{row: number, share: [bigint, bigint]}[]} Side  rows of one class, and the share of each in their mean */

const SHOWN_ROWS = 12; // in a line of a proof
const SHOWN_DIGITS = 4; // of the weights in it

/**
 * Return what the page shows of a certificate.
 * @param {import("./types").Proof} proof
 * @returns {Certificate}
 */
export function readCertificate({ file, rows: Z, labels, plane }) {
  const two = file.classes.length === 2;
  const sides = two ? [0, 1].map((rival) => sideOf(file, rival)) : [];
  return {
    verdict: file.verdict.replaceAll("-", "_"),
    sentence: verdictSentence(file),
    lines: [...supportLines(file, sides, plane ? "line" : "hyperplane"), ...separatorLines(file), ...marginLines(file)],
    hyperplane: null,
    band: null,
    supports: [],
    margins: [],
    common_point: null,
    common_exact: null,
    weights: [],
    hulls:
      two && plane
        ? file.classes.map((/** @type {any} */ _, /** @type {number} */ k) => hull(Z.filter((_, i) => labels[i] === k)))
        : [],
    json: file,
    ...(two && file.vector ? shownSeparator(file, Z, labels) : {}),
    ...(two && file.support.length ? shownMeeting(sides, Z) : {}),
  };
}

// ------------------------------------------------------------------------------------------------------------- numbers

/** @param {string} text  an integer, in decimal or hexadecimal */
const bigOf = (text) => (text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text));

/** @param {string} text  a hexadecimal float, or a fraction */
function realOf(text) {
  const [above, below] = text.split("/");
  return below === undefined ? fromHex(text) : nearestDouble([bigOf(above), bigOf(below)]);
}

/** @param {bigint} above @param {bigint} below @returns {[bigint, bigint]} */
function lowestTerms(above, below) {
  const [a, b] = primitive([above, below]);
  return [a, b];
}

/** @param {[bigint, bigint]} share */
const shareText = ([above, below]) => (below === 1n ? String(above) : `${above}/${below}`);

/**
 * Return a number to some digits, rounded so that it stays a bound.
 * @param {number} value
 * @param {number} digits
 * @param {boolean} up
 */
function boundText(value, digits, up) {
  const rounded = Number(value.toPrecision(digits));
  if (up ? rounded >= value : rounded <= value) return String(rounded);
  const unit = 10 ** (Math.floor(Math.log10(value)) + 1 - digits);
  return String(Number((rounded + (up ? unit : -unit)).toPrecision(digits)));
}

/**
 * Return the bounds of a number in words; a single number if they agree to nine digits.
 * @param {number} lower
 * @param {number} upper
 */
function betweenText(lower, upper) {
  const [low, high] = [lower, upper].map((value) => Number(value.toPrecision(9)));
  return low === high ? String(low) : `between ${boundText(lower, 9, false)} and ${boundText(upper, 9, true)}`;
}

/**
 * Return weights with the decimals that the largest has: what is zero up to rounding is 0. Any positive multiple of a
 * separator is one, so that very large and small ones are divided by the largest.
 * @param {number[]} weights
 */
function roundedTexts(weights) {
  const size = Math.max(...weights.map(Math.abs));
  const values = size < 1e-3 || size >= 1e5 ? weights.map((value) => value / (size || 1)) : weights;
  const largest = Math.max(...values.map(Math.abs));
  const unit = largest > 0 ? 10 ** (Math.floor(Math.log10(largest)) + 1 - SHOWN_DIGITS) : 1;
  return values.map((value) => String(Number((Math.round(value / unit) * unit).toPrecision(SHOWN_DIGITS)) + 0));
}

// -------------------------------------------------------------------------------------------------------------- text

/** @param {Record<string, any>} file */
function verdictSentence({ verdict, classes, reason }) {
  const several = classes.length > 2;
  if (verdict === "undecided") return `Undecided. ${reason}`;
  if (verdict === "separable") {
    const found = several ? "one weight vector per class separates them." : "a hyperplane separates the classes.";
    return `Complete separation: ${found}`;
  }
  const none = several
    ? "no weight vectors separate the classes"
    : "no hyperplane separates the classes, as their hulls meet";
  if (verdict === "overlapping") return `Overlap: ${none}.`;
  const weak = several
    ? "but with some no point has a higher score for another class; some have a tie."
    : "but some hyperplane has no points on the wrong side, only points on it.";
  return `Quasi-complete separation: ${none}, ${weak}`;
}

/**
 * Return the rows that cancel and are opposite a rival class.
 * @param {Record<string, any>} file
 * @param {number} rival
 * @returns {Side}
 */
function sideOf({ support, rivals, multipliers }, rival) {
  const own = support.flatMap((/** @type {number} */ row, /** @type {number} */ k) =>
    rivals[k] === rival ? [{ row, times: bigOf(multipliers[k]) }] : [],
  );
  const total = own.reduce((/** @type {bigint} */ sum, /** @type {{times: bigint}} */ { times }) => sum + times, 0n);
  return own.map((/** @type {{row: number, times: bigint}} */ { row, times }) => ({
    row,
    share: lowestTerms(times, total),
  }));
}

/**
 * Return why the classes cannot be separated: the point that their hulls share, or differences that cancel.
 * @param {Record<string, any>} file
 * @param {Side[]} sides
 * @param {string} separator  "line" or "hyperplane"
 */
function supportLines(file, sides, separator) {
  if (!file.support.length) return [];
  if (!sides.length) {
    const names = file.classes.every((/** @type {number} */ label, /** @type {number} */ k) => label === k)
      ? file.classes.map((/** @type {number} */ label) => label + 1)
      : file.classes;
    const times = file.multipliers.map(bigOf);
    const total = times.reduce((/** @type {bigint} */ sum, /** @type {bigint} */ one) => sum + one, 0n);
    const terms = file.support.map((/** @type {number} */ row, /** @type {number} */ k) => {
      return `${shareText(lowestTerms(times[k], total))} (x${row + 1} against class ${names[file.rivals[k]]})`;
    });
    return [
      `These differences cancel: ${terms.slice(0, SHOWN_ROWS).join(", ")}${terms.length > SHOWN_ROWS ? ", ..." : ""}`,
    ];
  }
  const [few, many] = sides[1].length < sides[0].length ? [sides[1], sides[0]] : sides;
  const [first, second] = [few, many].map((side) =>
    side.map(({ row, share }) => `${share[0] === share[1] ? "" : `${shareText(share)} `}x${row + 1}`).join(" + "),
  );
  if (many.length === 1) {
    return [`${first} and ${second} are the same point in different classes, so no ${separator} separates them.`];
  }
  const mean =
    few.length > 1
      ? "a weighted mean of points of each class"
      : `${first} is a weighted mean of points of the other class`;
  return [`${first} = ${second}: ${mean}, so no ${separator} separates them.`];
}

/** @param {Record<string, any>} file */
function separatorLines({ verdict, vector, classes, boundary }) {
  const lines = [];
  if (vector && classes.length === 2) {
    const texts = roundedTexts(vector.map(realOf));
    lines.push(`w = (${texts.slice(0, -1).join(", ")}), b = ${texts.at(-1)}, rounded.`);
  } else if (verdict === "separable") lines.push("Every point has the highest score for its own class.");
  if (boundary.length) {
    const rows = boundary.slice(0, SHOWN_ROWS).map((/** @type {number} */ row) => `x${row + 1}`);
    lines.push(`${classes.length === 2 ? "Points on it" : "Points with a tie"}: ${rows.join(", ")}.`);
  }
  return lines;
}

/** @param {Record<string, any>} file */
function marginLines({ margin, augmented, radius, mistake_bound }) {
  const lines = [];
  const bounds = (/** @type {{lower: string, upper: string}} */ { lower, upper }) =>
    betweenText(realOf(lower), realOf(upper));
  if (margin && margin.upper !== "inf")
    lines.push(`The largest margin of a separating hyperplane is ${bounds(margin)}.`);
  if (augmented && augmented.upper !== "inf") {
    const R = boundText(realOf(radius), 6, true);
    lines.push(`gamma, the same for the rows (x, 1), is ${bounds(augmented)}; R = ${R}.`);
  }
  if (mistake_bound !== null) {
    const mistakes = `${mistake_bound} mistake${mistake_bound === "1" ? "" : "s"}`;
    lines.push(`So a perceptron makes at most (R/gamma)^2 = ${mistakes}, in any order.`);
  }
  return lines;
}

// ------------------------------------------------------------------------------------------------------------ pictures

/**
 * Return the separator with half the width of its band, the rows on its edges and the distance of each; or a weak
 * separator with the rows on it.
 * @param {Record<string, any>} file
 * @param {number[][]} Z
 * @param {number[]} labels
 * @returns {Partial<Certificate>}
 */
function shownSeparator({ verdict, vector, margin, boundary }, Z, labels) {
  const w = (verdict === "separable" && margin ? margin.w : vector).map(realOf);
  const length = Math.hypot(...w.slice(0, -1));
  if (verdict !== "separable" || !length) {
    return { hyperplane: w, supports: boundary.map((/** @type {number} */ row) => row + 1) };
  }
  const sign = labels.map((label) => (label ? 1 : -1));
  const score = Z.map((z) => z.reduce((sum, value, j) => sum + value * w[j], w.at(-1)));
  const high = Math.min(...score.filter((_, i) => sign[i] > 0));
  const low = Math.max(...score.filter((_, i) => sign[i] < 0));
  // The middle of the empty band: a search for the largest margin in floating point ends close to it.
  const middle = (low + high) / 2;
  const band = (high - low) / (2 * length);
  const margins = score.map((value, i) => (sign[i] * (value - middle)) / length);
  const supports = margins.flatMap((distance, i) => (distance - band <= 2e-6 * band ? [i + 1] : []));
  return { hyperplane: [...w.slice(0, -1), w.at(-1) - middle], band, supports, margins };
}

/**
 * Return the common point of the hulls, and the rows that it is a mean of.
 * @param {Side[]} sides
 * @param {number[][]} Z
 * @returns {Partial<Certificate>}
 */
function shownMeeting(sides, Z) {
  const { rows, scale } = decimals(Z);
  const below = sides[0].reduce((product, { share }) => product * share[1], scale);
  const exact = Z[0].map((_, j) =>
    lowestTerms(
      sides[0].reduce((sum, { row, share }) => sum + (rows[row][j] * share[0] * (below / scale)) / share[1], 0n),
      below,
    ),
  );
  /** @type {[number, string, number][]} */
  const weights = [0, 1].flatMap((rival) =>
    sides[rival].map(
      ({ row, share }) => /** @type {[number, string, number]} */ ([row + 1, shareText(share), 1 - rival]),
    ),
  );
  return {
    common_point: exact.map(nearestDouble),
    common_exact: exact.map(shareText),
    weights,
    supports: weights.map(([row]) => row).sort((a, b) => a - b),
  };
}

/**
 * Return the corners of the convex hull of points in the plane, in order (Andrew's monotone chain).
 * @param {number[][]} points
 * @returns {Point[]}
 */
function hull(points) {
  const ordered = points.toSorted((p, q) => p[0] - q[0] || p[1] - q[1]);
  const side = (/** @type {number[][]} */ path) => {
    /** @type {number[][]} */
    const kept = [];
    for (const c of path) {
      for (let [a, b] = kept.slice(-2); b; [a, b] = kept.slice(-2)) {
        if ((b[0] - a[0]) * (c[1] - b[1]) > (b[1] - a[1]) * (c[0] - b[0])) break;
        kept.pop();
      }
      kept.push(c);
    }
    return kept.slice(0, -1);
  };
  const corners = [...side(ordered), ...side(ordered.toReversed())];
  return /** @type {Point[]} */ (corners.length ? corners : ordered.slice(0, 1));
}
