// @ts-check
/** The generated sets of points: the same as those of `rosenblatt.lab.catalogue`, draw by draw. */
import { Random } from "./random.js";

/** @typedef {{X: number[][], labels: number[]}} Points */

/**
 * Return the integer closest to a number, the even one of two.
 * @param {number} value
 */
function rounded(value) {
  const below = Math.floor(value);
  const rest = value - below;
  return rest < 0.5 || (rest === 0.5 && below % 2 === 0) ? below : below + 1;
}

/** @param {number} value */
const toHundredths = (value) => rounded(value * 100) / 100 + 0;

/**
 * Return points rounded to hundredths, as drawn ones are, in another order if one is given.
 * @param {number[][]} X
 * @param {number[]} labels
 * @param {number[]} [order]
 * @returns {Points}
 */
function drawn(X, labels, order = labels.map((_, i) => i)) {
  return { X: order.map((i) => X[i].map(toHundredths)), labels: order.map((i) => labels[i]) };
}

/** @param {number} n */
const numbers = (n) => Array.from({ length: n }, (_, i) => i);

/** @param {number} n */
const alternating = (n) => numbers(n).map((i) => (i % 2 ? -1 : 1));

/**
 * Return points around their centres.
 * @param {Random} random
 * @param {number[][]} centres  one for each point
 * @param {number[]} spread  deviation of each coordinate
 */
const scattered = (random, centres, spread) => centres.map((at) => at.map((c, j) => c + random.normal() * spread[j]));

/**
 * Return the points of two classes, the first negative, in random order and with noise.
 * @param {number[][]} negative
 * @param {number[][]} positive
 * @param {number} noise
 * @param {number} seed
 */
function twoShapes(negative, positive, noise, seed) {
  const random = new Random(seed);
  const [X, labels] = [
    [...negative, ...positive],
    [...negative.map(() => -1), ...positive.map(() => 1)],
  ];
  const order = random.permutation(labels.length);
  const noisy = order.map((i) => X[i].map((value) => value + noise * random.normal()));
  return drawn(
    noisy,
    order.map((i) => labels[i]),
    new Random(seed).permutation(labels.length),
  );
}

/** @type {Record<string, (values: Record<string, number>) => Points>} */
export const DATASETS = {
  clouds({ n, margin, noise, data_seed }) {
    const random = new Random(data_seed);
    const angle = 2 * Math.PI * random.uniform();
    const [w, along] = [
      [Math.cos(angle), Math.sin(angle)],
      [-Math.sin(angle), Math.cos(angle)],
    ];
    const labels = alternating(n);
    const distance = random.normals(n).map((z) => margin + 0.01 + Math.abs(0.6 * z));
    const middle = random.normals(2).map((z) => 0.4 * z);
    const side = random.normals(n).map((z) => 0.8 * z);
    const X = labels.map((y, i) => [0, 1].map((j) => middle[j] + y * distance[i] * w[j] + side[i] * along[j]));
    for (const i of random.choice(n, rounded(noise * n))) labels[i] *= -1;
    return drawn(X, labels);
  },
  overlap({ n, noise, data_seed }) {
    const labels = alternating(n);
    const centres = labels.map((y) => [0.7 * y, 0.5 * y]);
    return drawn(scattered(new Random(data_seed), centres, [noise, noise]), labels);
  },
  moons({ n, noise, data_seed }) {
    const half = Math.floor(n / 2);
    const angles = (/** @type {number} */ m) => numbers(m).map((i) => (m > 1 ? (i * Math.PI) / (m - 1) : 0));
    const upper = angles(n - half).map((a) => [Math.cos(a), Math.sin(a)]);
    const lower = angles(half).map((a) => [1 - Math.cos(a), 0.5 - Math.sin(a)]);
    return twoShapes(upper, lower, noise, data_seed);
  },
  circle({ n, noise, data_seed }) {
    const half = Math.floor(n / 2);
    const ring = (/** @type {number} */ m, /** @type {number} */ r) =>
      numbers(m).map((i) => [r * Math.cos((i * 2 * Math.PI) / m), r * Math.sin((i * 2 * Math.PI) / m)]);
    return twoShapes(ring(n - half, 1), ring(half, 0.5), noise, data_seed);
  },
  three({ n, noise, data_seed }) {
    const labels = numbers(n).map((i) => i % 3);
    const centres = labels.map((k) => [1.4 * (k - 1), 0]);
    return drawn(scattered(new Random(data_seed), centres, [0.6 * noise, noise]), labels);
  },
  four({ n, noise, data_seed }) {
    const corners = [
      [-1.2, -0.8],
      [1.3, -0.6],
      [1.0, 1.2],
      [-0.7, 1.3],
    ];
    const labels = numbers(n).map((i) => i % 4);
    const centres = labels.map((k) => corners[k]);
    return drawn(scattered(new Random(data_seed), centres, [noise, noise]), labels);
  },
  labels({ n, data_seed }) {
    const random = new Random(data_seed);
    const X = numbers(n).map(() => [2 * random.uniform() - 1, 2 * random.uniform() - 1]);
    return drawn(
      X,
      random.permutation(n).map((i) => i % 2),
    );
  },
};
