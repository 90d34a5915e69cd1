// @ts-check
/** The largest margin of a hyperplane through the origin: the point of the rows' convex hull that is closest to it. */

const MOST_CORRALS = 2000;

/**
 * Return the inner product.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
function product(a, b) {
  let sum = 0;
  for (let j = 0; j < a.length; j++) sum += a[j] * b[j];
  return sum;
}

/**
 * Return the weights, which add up to one, of the point closest to the origin in the flat through some rows; null if
 * rounding leaves none.
 * @param {number[][]} rows
 */
function closestInFlat(rows) {
  // Lagrange: G u = 1, scaled to a sum of one, with the Gram matrix G plus one, which has the same solution.
  const n = rows.length;
  const G = rows.map((a) => [...rows.map((b) => product(a, b) + 1), 1]);
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(G[i][k]) > Math.abs(G[pivot][k])) pivot = i;
    [G[k], G[pivot]] = [G[pivot], G[k]];
    if (Math.abs(G[k][k]) < 1e-14 * Math.abs(G[0][0])) return null;
    for (let i = k + 1; i < n; i++) {
      const factor = G[i][k] / G[k][k];
      for (let j = k; j <= n; j++) G[i][j] -= factor * G[k][j];
    }
  }
  const u = new Array(n).fill(0);
  for (let k = n - 1; k >= 0; k--) {
    u[k] = G[k][n];
    for (let j = k + 1; j < n; j++) u[k] -= G[k][j] * u[j];
    u[k] /= G[k][k];
  }
  const sum = u.reduce((total, value) => total + value, 0);
  return u.map((value) => value / sum);
}

/**
 * Return the unit vector w with the largest min over the rows of w.z, and that margin; null if no w has a positive one.
 * By Wolfe (1976), Finding the nearest point in a polytope.
 * @param {number[][]} rows  signed, with the 1 of the bias
 * @returns {{margin: number, w: number[]} | null}
 */
export function widestMargin(rows) {
  const longest = Math.max(...rows.map((row) => product(row, row)));
  const combined = (/** @type {number[]} */ corral, /** @type {number[]} */ share) =>
    rows[0].map((_, j) => corral.reduce((sum, i, k) => sum + share[k] * rows[i][j], 0));
  const squares = rows.map((row) => product(row, row));
  let corral = [squares.indexOf(Math.min(...squares))];
  let share = [1];
  let x = rows[corral[0]].slice();
  for (let step = 0; step < MOST_CORRALS; step++) {
    const scores = rows.map((row) => product(row, x));
    const lowest = scores.indexOf(Math.min(...scores));
    const square = product(x, x);
    if (square <= 1e-20 * longest) return null;
    if (scores[lowest] >= square - 1e-13 * longest || corral.includes(lowest)) {
      const margin = scores[lowest] / Math.sqrt(square);
      return margin > 1e-10 * Math.sqrt(longest) ? { margin, w: x.map((value) => value / Math.sqrt(square)) } : null;
    }
    [corral, share] = [
      [...corral, lowest],
      [...share, 0],
    ];
    for (;;) {
      const u = closestInFlat(corral.map((i) => rows[i]));
      if (!u) return null;
      if (u.every((value) => value > 1e-14)) {
        share = u;
        break;
      }
      // Go as far towards it as the hull of the corral reaches, and drop the rows that have no share there.
      let reach = 1;
      u.forEach((value, k) => {
        if (value <= 1e-14) reach = Math.min(reach, share[k] / (share[k] - value));
      });
      const moved = share.map((value, k) => value + reach * (u[k] - value));
      const least = Math.min(...moved);
      const kept = moved.map((value) => value > Math.max(1e-14, least));
      corral = corral.filter((_, k) => kept[k]);
      share = moved.filter((_, k) => kept[k]);
      const sum = share.reduce((total, value) => total + value, 0);
      share = share.map((value) => value / sum);
    }
    x = combined(corral, share);
  }
  return null;
}
