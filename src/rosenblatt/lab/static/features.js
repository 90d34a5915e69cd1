// @ts-check
/** Feature maps: products of coordinates, or random association units. */
import { variance } from "./kernels.js";
import { legacySeed, Random } from "./random.js";

/** @typedef {(x: number[]) => number[]} FeatureMap */

/** @type {Record<string, number>} */
export const DEGREES = { none: 1, quadratic: 2, cubic: 3, quartic: 4 };

/**
 * Return the coordinates that are multiplied for each mapped column: [0], [1], then [0, 0], [0, 1], [1, 1], and so on.
 * @param {number} columns
 * @param {number} degree
 */
function factorsOf(columns, degree) {
  let lists = Array.from({ length: columns }, (_, j) => [j]);
  const found = [...lists];
  for (let k = 2; k <= degree; k++) {
    lists = lists.flatMap((list) => {
      const last = list[list.length - 1];
      return Array.from({ length: columns - last }, (_, i) => [...list, last + i]);
    });
    found.push(...lists);
  }
  return found;
}

/**
 * Return the map of a scene.
 * @param {string} kind
 * @param {number[][]} X  the rows, which decide the thresholds of the units
 * @param {number} units
 * @param {number} seed
 * @returns {FeatureMap}
 */
export function featureMap(kind, X, units, seed) {
  if (kind === "units") return associationUnits(X, units, seed);
  if (kind === "none") return (x) => x;
  const lists = factorsOf(X[0].length, DEGREES[kind]);
  return (x) => lists.map((list) => list.reduce((product, j) => product * x[j], 1));
}

/**
 * Return the names of the mapped columns.
 * @param {string} kind
 * @param {string[]} names
 * @param {number} units
 */
export function mappedNames(kind, names, units) {
  if (kind === "units") return Array.from({ length: units }, (_, j) => `unit ${j + 1}`);
  return factorsOf(names.length, DEGREES[kind]).map((list) => {
    const powers = [...new Set(list)].map((j) => [names[j], list.filter((k) => k === j).length]);
    return powers.map(([name, power]) => (power === 1 ? name : `${name}^${power}`)).join(" ");
  });
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
