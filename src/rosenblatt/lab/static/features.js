// @ts-check
/** Feature maps: squares and products, or random association units. */
import { variance } from "./kernels.js";
import { legacySeed, Random } from "./random.js";

/** @typedef {(x: number[]) => number[]} FeatureMap */

/**
 * Return the map of a scene.
 * @param {string} kind
 * @param {number[][]} X  the rows, which decide the thresholds of the units
 * @param {number} units
 * @param {number} seed
 * @returns {FeatureMap}
 */
export function featureMap(kind, X, units, seed) {
  if (kind === "quadratic") return (x) => [...x, ...x.flatMap((a, i) => x.slice(i).map((b) => a * b))];
  return kind === "units" ? associationUnits(X, units, seed) : (x) => x;
}

/**
 * Return the names of the mapped columns.
 * @param {string} kind
 * @param {string[]} names
 * @param {number} units
 */
export function mappedNames(kind, names, units) {
  if (kind === "units") return Array.from({ length: units }, (_, j) => `unit ${j + 1}`);
  if (kind === "none") return names;
  return [...names, ...names.flatMap((a, i) => names.slice(i).map((b) => (a === b ? `${a}^2` : `${a} ${b}`)))];
}

/**
 * Return a layer of units that fire if w.x + b > 0. The line of a unit meets the segment between two random rows.
 * @param {number[][]} X
 * @param {number} units
 * @param {number} seed
 * @returns {FeatureMap}
 */
function associationUnits(X, units, seed) {
  const [random, numbers] = [new Random(legacySeed(seed)), Array.from({ length: units }, (_, j) => j)];
  const deviation = Math.sqrt(2) * Math.sqrt(1 / (X[0].length * variance(X) || 1));
  const weights = X[0].map(() => numbers.map(() => deviation * random.normal())); // of each feature
  const one = numbers.map(() => random.integer(X.length - 1));
  const other = one.map((i) => (i + 1 + random.integer(Math.max(X.length, 2) - 2)) % X.length);
  const sum = (/** @type {number[]} */ x, /** @type {number} */ j) =>
    x.reduce((total, value, f) => total + value * weights[f][j], 0);
  const bias = numbers.map((j) => {
    const [share, first, second] = [random.uniform(), sum(X[one[j]], j), sum(X[other[j]], j)];
    return (first === second ? share : 0) - share * first - (1 - share) * second;
  });
  return (x) => numbers.map((j) => Number(sum(x, j) + bias[j] > 0));
}
