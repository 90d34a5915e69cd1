// @ts-check
/** Geometry of the plane and of the sphere, and scales. A half-plane is the points with a x + b y + c > 0. */

/** @typedef {import("./types").Point} Point */
/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Scale} Scale */
/** @typedef {import("./types").Vector} Vector */

/**
 * Return the linear scale from a domain to a range of pixels.
 * @param {Vector} domain
 * @param {Vector} range
 * @returns {Scale}
 */
export function linear(domain, range) {
  const factor = (range[1] - range[0]) / (domain[1] - domain[0] || 1);
  const scale = (/** @type {number} */ value) => range[0] + (value - domain[0]) * factor;
  const invert = (/** @type {number} */ pixel) => domain[0] + (pixel - range[0]) / factor;
  return Object.assign(scale, { invert, domain: /** @type {Point} */ ([domain[0], domain[1]]) });
}

/**
 * Return round numbers that cut a domain into about `count` parts.
 * @param {Vector} domain
 * @param {number} [count]
 * @returns {number[]}
 */
export function ticks(domain, count = 5) {
  const raw = (domain[1] - domain[0]) / count;
  if (!(raw > 0) || !Number.isFinite(raw)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? raw;
  const first = Math.ceil(domain[0] / step - 1e-9);
  const length = Math.max(0, Math.floor(domain[1] / step + 1e-9) - first + 1);
  return Array.from({ length }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/**
 * Cut a convex polygon by a closed half-plane (Sutherland and Hodgman).
 * @param {Point[]} polygon
 * @param {number} a
 * @param {number} b
 * @param {number} c
 * @returns {Point[]}
 */
export function clip(polygon, a, b, c) {
  /** @type {Point[]} */
  const kept = [];
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const here = a * p[0] + b * p[1] + c;
    const there = a * q[0] + b * q[1] + c;
    if (here >= 0) kept.push(p);
    if (here * there < 0) {
      const share = here / (here - there);
      kept.push([p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share]);
    }
  });
  return kept;
}

/**
 * Return the area of a polygon.
 * @param {Point[]} polygon
 */
export function area(polygon) {
  let twice = 0;
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    twice += p[0] * q[1] - q[0] * p[1];
  });
  return Math.abs(twice) / 2;
}

/**
 * Return the closure of the points of a polygon that are strictly inside every half-plane; empty if there are none.
 * The solutions of a perceptron are such an open set: on its border a row is a tie, and a tie is a mistake. So a
 * half-plane 0 x + 0 y + 0 > 0 leaves nothing, and neither do two that face each other on one line.
 * @param {Point[]} polygon
 * @param {Vector[]} planes  each [a, b, c]
 * @returns {Point[]}
 */
export function openRegion(polygon, planes) {
  const whole = area(polygon);
  let left = polygon;
  for (const [a, b, c] of /** @type {number[][]} */ (planes)) {
    if (a === 0 && b === 0 && c <= 0) return [];
    left = clip(left, a, b, c);
  }
  return area(left) > 1e-12 * whole ? left : [];
}

/**
 * Return the parts into which lines cut a convex polygon.
 * @param {Point[]} polygon
 * @param {Vector[]} lines  each [a, b, c]
 * @returns {Point[][]}
 */
export function cellsOf(polygon, lines) {
  const least = 1e-9 * area(polygon);
  let cells = [polygon];
  for (const [a, b, c] of /** @type {number[][]} */ (lines)) {
    cells = cells.flatMap((cell) => [clip(cell, a, b, c), clip(cell, -a, -b, -c)].filter((part) => area(part) > least));
  }
  return cells;
}

/**
 * Return the middle of the corners of a polygon.
 * @param {Point[]} polygon
 * @returns {Point}
 */
export function middleOf(polygon) {
  const sum = polygon.reduce((s, p) => [s[0] + p[0], s[1] + p[1]], [0, 0]);
  return [sum[0] / polygon.length, sum[1] / polygon.length];
}

/**
 * Return the part of the line a x + b y + c = 0 inside a box, or null.
 * @param {Box} box
 * @param {number} a
 * @param {number} b
 * @param {number} c
 * @returns {[Point, Point] | null}
 */
export function chord(box, a, b, c) {
  const length = Math.hypot(a, b);
  if (!length) return null;
  const foot = [(-a * c) / length ** 2, (-b * c) / length ** 2];
  const along = [-b / length, a / length];
  let low = -Infinity;
  let high = Infinity;
  for (const axis of [0, 1]) {
    const [from, to] = box[axis];
    if (Math.abs(along[axis]) < 1e-12) {
      if (foot[axis] < from || foot[axis] > to) return null;
      continue;
    }
    const ends = [(from - foot[axis]) / along[axis], (to - foot[axis]) / along[axis]];
    low = Math.max(low, Math.min(...ends));
    high = Math.min(high, Math.max(...ends));
  }
  if (low >= high) return null;
  const at = (/** @type {number} */ s) => /** @type {Point} */ ([foot[0] + s * along[0], foot[1] + s * along[1]]);
  return [at(low), at(high)];
}

/**
 * Return points as the d attribute of an SVG path.
 * @param {Point[]} points
 * @param {Scale} x
 * @param {Scale} y
 * @param {boolean} [close]
 */
export function pathOf(points, x, y, close = false) {
  if (!points.length) return "";
  return `M${points.map((p) => `${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join("L")}${close ? "Z" : ""}`;
}

/**
 * Return the line f = 0 on a square grid as the d attribute of an SVG path (marching squares).
 * @param {Vector} f  row by row
 * @param {number} size  of a side
 * @param {(i: number) => Point} at  pixel of a grid point
 */
export function zeroLine(f, size, at) {
  const parts = [];
  /** @param {number} i @param {number} j */
  const cut = (i, j) => {
    const share = f[i] / (f[i] - f[j]);
    const [p, q] = [at(i), at(j)];
    return `${(p[0] + (q[0] - p[0]) * share).toFixed(1)} ${(p[1] + (q[1] - p[1]) * share).toFixed(1)}`;
  };
  for (let y = 0; y < size - 1; y++) {
    for (let x = 0; x < size - 1; x++) {
      const i = y * size + x;
      const ring = [i, i + 1, i + size + 1, i + size];
      const ends = [];
      for (let k = 0; k < 4; k++) {
        const [a, b] = [ring[k], ring[(k + 1) % 4]];
        if (f[a] > 0 !== f[b] > 0) ends.push(cut(a, b));
      }
      for (let k = 0; k + 1 < ends.length; k += 2) parts.push(`M${ends[k]}L${ends[k + 1]}`);
    }
  }
  return parts.join("");
}

/** @param {Vector} p @param {Vector} q */
export function dot3(p, q) {
  return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}

/** @param {Vector} p @param {Vector} q */
export function cross3(p, q) {
  return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
}

/** @param {Vector} p @returns {number[]} */
export function unit3(p) {
  const length = Math.hypot(p[0], p[1], p[2]) || 1;
  return [p[0] / length, p[1] / length, p[2] / length];
}

/**
 * Return two unit vectors that are perpendicular to a unit vector and to each other.
 * @param {Vector} p
 */
export function across3(p) {
  const u = unit3(cross3(p, Math.abs(p[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  return [u, cross3(p, u)];
}

/**
 * Return points at equal angles on the shorter arc of a great circle from p to q, which may be almost opposite.
 * @param {Vector} p
 * @param {Vector} q
 * @param {number} [steps]
 */
export function arc3(p, q, steps = 16) {
  const cosine = dot3(p, q);
  const ahead = unit3([0, 1, 2].map((j) => q[j] - cosine * p[j]));
  const whole = Math.acos(Math.max(-1, Math.min(1, cosine)));
  return Array.from({ length: steps + 1 }, (_, k) => {
    const angle = (whole * k) / steps;
    return [0, 1, 2].map((j) => p[j] * Math.cos(angle) + ahead[j] * Math.sin(angle));
  });
}

/**
 * Return the corners of the spherical polygon of all directions u with n.u > 0 for every normal n, given the maximum
 * margin direction. That one is a sum of normals with positive factors, so every solution is in its hemisphere, and
 * the polygon can be cut in the plane that touches the sphere there.
 * @param {Vector[]} normals
 * @param {Vector | null} star
 */
export function sphericalRegion(normals, star) {
  if (!star) return [];
  const centre = unit3(star);
  const [u, v] = across3(centre);
  const far = 200;
  const planes = normals.map((n) => [dot3(n, u), dot3(n, v), dot3(n, centre)]);
  const flat = openRegion(
    [
      [-far, -far],
      [far, -far],
      [far, far],
      [-far, far],
    ],
    planes,
  );
  return flat.map(([x, y]) => unit3([0, 1, 2].map((j) => centre[j] + x * u[j] + y * v[j])));
}
