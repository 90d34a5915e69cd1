// @ts-check
/**
 * "Prove it" in the page: whether a hyperplane separates two classes, in exact arithmetic, as a certificate.
 *
 * Row x of class y = -1 or +1 becomes the signed row z = y (x, 1), and w separates the classes if z.w > 0 for all rows.
 * The point nearest to the origin in the hull of the signed rows decides. If it is not the origin, it is itself the
 * separator of widest margin. If it is, positive multiples of signed rows add up to zero, and no w is positive on all
 * of them (Gordan 1873). docs/reference/certificates.md describes the certificate.
 */
import { decimals, dotExact, hexOf, nearestDouble, primitive, ratioOf, rootOf, sha256 } from "./exact.js";

/** @typedef {{v: bigint[], rows: number[]}} Vertex  a vector, and the rows that it is made of */
/** @typedef {Map<number, bigint>} Multiples  of rows, positive */
/** @typedef {{corral: Vertex[], weights: bigint[], total: bigint, sum: bigint[]}} Nearest */

/**
 * Return a certificate for rows of two classes. Coordinates are read as decimals: 0.1 is one tenth.
 * @param {number[][]} X
 * @param {number[]} y  one of two labels for each row
 * @returns {Record<string, any>}  the fields of the file
 */
export function certifyPage(X, y) {
  const classes = [...new Set(y)].sort((a, b) => a - b);
  if (classes.length !== 2) throw new Error(`A proof in the page needs two classes, not ${classes.length}.`);
  const label = y.map((one) => classes.indexOf(one));
  const { rows, scale } = decimals(X);
  const signed = rows.map((row, i) => (label[i] ? [...row, scale] : negated([...row, scale])));
  const { verdict, nearest, multiples, boundary } = decide(signed);
  const support = [...multiples.keys()].sort((a, b) => a - b);
  const squares = signed.map((z) => dotExact(z, z)).sort((a, b) => Number(b > a) - Number(b < a));
  const radius = rootOf([squares[0], scale * scale], true);
  const augmented = verdict === "separable" && nearest ? augmentedBracket(nearest, scale) : null;
  const fields = {
    format: "rosenblatt-certificate",
    version: 1,
    verdict,
    arithmetic: "decimal",
    shape: [X.length, X[0].length],
    classes,
    layout: "dense",
    digest: digestOf(X, label),
    radius: hexOf(radius),
    vector: nearest && direction(nearest),
    boundary,
    support,
    rivals: support.map((i) => 1 - label[i]),
    multipliers: support.map((i) => integerText(multiples.get(i) ?? 0n)),
    point: meetingPoint(rows, label, multiples, scale),
    margin: augmented ? marginBracket(rows, label, scale) : null,
    augmented: augmented ? augmented.fields : null,
    mistake_bound: augmented ? integerText(mistakesBelow(radius, augmented.lower)) : null,
    estimates: [],
    combinations: [],
    directions: [],
    names: [],
    intercept: true,
    response: "labels",
    levels: [],
    rows: [],
    reason: "",
  };
  return { ...fields, seal: sha256(new TextEncoder().encode(canonicalText(fields))) };
}

// ---------------------------------------------------------------------------------------------------------- the search

/**
 * Decide whether signed rows z have a w with z.w > 0 for all.
 *
 * Where they have none, the rows whose multiples cancel span a space on which every weak separator (z.w >= 0 for all) is
 * zero. The rows outside that space, projected onto its complement, are searched again: they may have a w of their own
 * (quasi-separable), or more rows that cancel. Each round enlarges the space.
 * @param {bigint[][]} signed
 * @returns {{verdict: string, nearest: Nearest | null, multiples: Multiples, boundary: number[]}}
 */
function decide(signed) {
  /** @type {Multiples} */
  let multiples = new Map();
  /** @type {bigint[][]} */
  let space = []; // orthogonal vectors
  for (;;) {
    const outside = signed.map((z) => space.reduce(without, z));
    const left = outside.flatMap((v, i) => (v.some((value) => value !== 0n) ? [{ v, rows: [i] }] : []));
    if (!left.length) return { verdict: "overlapping", nearest: null, multiples, boundary: [] };
    const nearest = nearestPoint(left[0], (q) => lowestOf(left, q));
    if (nearest.sum.some((value) => value !== 0n)) {
      const boundary = space.length ? outside.flatMap((v, i) => (v.every((value) => value === 0n) ? [i] : [])) : [];
      const verdict = space.length ? "quasi-separable" : "separable";
      return { verdict, nearest, multiples, boundary };
    }
    multiples = cancelling(signed, multiples, nearest);
    space = independent([...multiples.keys()].map((i) => signed[i])).orthogonal;
  }
}

/**
 * Return the vector of least score under q.
 * @param {Vertex[]} vertices
 * @param {bigint[]} q
 */
function lowestOf(vertices, q) {
  let best = vertices[0];
  let least = dotExact(q, best.v);
  for (const vertex of vertices) {
    const score = dotExact(q, vertex.v);
    if (score < least) [best, least] = [vertex, score];
  }
  return best;
}

/**
 * Return the point nearest to the origin in the hull of vectors (Wolfe 1976), as `sum` over the total of the weights.
 * Nothing is rounded, so that it ends.
 * @param {Vertex} first  any of the vectors
 * @param {(q: bigint[]) => Vertex} lowest  returns a vector of least score under q
 * @returns {Nearest}
 */
function nearestPoint(first, lowest) {
  let corral = [first];
  let weights = [1n];
  for (;;) {
    const total = weights.reduce((a, b) => a + b);
    const sum = combined(corral, weights);
    const vertex = lowest(sum);
    // The point is p = sum / total, and nearest if p.v >= p.p for all v.
    if (dotExact(sum, vertex.v) * total >= dotExact(sum, sum)) return { corral, weights, total, sum };
    corral.push(vertex);
    weights.push(0n);
    let target = nearestInPlane(corral);
    while (target.some((value) => value <= 0n)) {
      ({ corral, weights } = stepTowards(corral, weights, target));
      target = nearestInPlane(corral);
    }
    weights = target;
  }
}

/**
 * Return the sum of weights times vectors.
 * @param {Vertex[]} corral
 * @param {bigint[]} weights
 */
function combined(corral, weights) {
  return corral[0].v.map((_, j) => corral.reduce((sum, { v }, k) => sum + weights[k] * v[j], 0n));
}

/**
 * Return weights of the point nearest to the origin in the plane through vectors; some may be negative. They solve
 * (v_i.v_j + 1) a = 1, whose matrix is positive definite because no vector of a corral is in the plane of the others.
 * @param {Vertex[]} corral
 */
function nearestInPlane(corral) {
  return primitive(solved(corral.map((a) => [...corral.map((b) => dotExact(a.v, b.v) + 1n), 1n])).times);
}

/**
 * Return the solution of a positive definite system times its determinant, and that determinant. A row of the system
 * has the coefficients and the right side. Divisions leave no remainder (Bareiss 1968).
 * @param {bigint[][]} system
 */
function solved(system) {
  const n = system.length;
  let rows = system;
  let before = 1n;
  for (let k = 0; k < n; k++) {
    const pivot = rows[k];
    const divisor = before;
    rows = rows.map((row, i) =>
      i === k ? row : row.map((value, j) => (value * pivot[k] - row[k] * pivot[j]) / divisor),
    );
    before = pivot[k];
  }
  return { times: rows.map((row) => row[n]), determinant: before };
}

/**
 * Move weights towards a target until one of them is zero, and drop the vectors that have none left.
 * @param {Vertex[]} corral
 * @param {bigint[]} weights
 * @param {bigint[]} target
 */
function stepTowards(corral, weights, target) {
  const [from, to] = [weights, target].map((values) => values.reduce((a, b) => a + b));
  // Weight i is zero after the share above / below of the way.
  let [above, below] = [1n, 1n];
  target.forEach((goal, i) => {
    if (goal > 0n) return;
    const [a, b] = [weights[i] * to, weights[i] * to - goal * from];
    if (a * below < above * b) [above, below] = [a, b];
  });
  const moved = primitive(weights.map((value, i) => value * to * (below - above) + target[i] * from * above));
  const kept = moved.flatMap((value, i) => (value > 0n ? [i] : []));
  return { corral: kept.map((i) => corral[i]), weights: kept.map((i) => moved[i]) };
}

/**
 * Return a multiple of z less its part along b; the factor is positive and the same for every z.
 * @param {bigint[]} z
 * @param {bigint[]} b
 */
function without(z, b) {
  const [square, part] = [dotExact(b, b), dotExact(z, b)];
  return z.map((value, j) => value * square - part * b[j]);
}

/**
 * Return the places of vectors that are not sums of multiples of those before them, and orthogonal vectors that span
 * the same space.
 * @param {bigint[][]} vectors
 */
function independent(vectors) {
  /** @type {{places: number[], orthogonal: bigint[][]}} */
  const found = { places: [], orthogonal: [] };
  vectors.forEach((vector, k) => {
    const rest = primitive(found.orthogonal.reduce(without, vector));
    if (rest.every((value) => value === 0n)) return;
    found.places.push(k);
    found.orthogonal.push(rest);
  });
  return found;
}

/**
 * Return positive multiples of signed rows that add up to zero: of those known, and of others that add up to a vector
 * in their span. Multiples of the known rows undo that vector; the known sum is added so often that all are positive.
 * @param {bigint[][]} signed
 * @param {Multiples} known
 * @param {{corral: Vertex[], weights: bigint[]}} found
 * @returns {Multiples}
 */
function cancelling(signed, known, found) {
  const others = found.corral.map(({ rows: [i] }) => ({ v: signed[i], rows: [i] }));
  const rest = combined(others, found.weights);
  const rows = [...known.keys()];
  const basis = independent(rows.map((i) => signed[i])).places.map((k) => rows[k]);
  const products = basis.map((i) => [...basis.map((k) => dotExact(signed[i], signed[k])), dotExact(signed[i], rest)]);
  const { times, determinant } = solved(products);
  const undo = new Map(times.map((value, k) => [basis[k], value]));
  let often = 1n;
  for (const [i, multiple] of known) {
    const needed = (undo.get(i) ?? 0n) / multiple + 1n;
    if (needed > often) often = needed;
  }
  const places = [...others.map(({ rows: [i] }) => i), ...rows];
  const values = [
    ...found.weights.map((value) => value * determinant),
    ...rows.map((i) => often * (known.get(i) ?? 0n) - (undo.get(i) ?? 0n)),
  ];
  return new Map(primitive(values).map((value, k) => [places[k], value]));
}

// ------------------------------------------------------------------------------------------------------------ measures

/**
 * Return the largest min z.w / |w| with the bias as part of w, as a bracket.
 * @param {Nearest} nearest
 * @param {bigint} scale
 */
function augmentedBracket(nearest, scale) {
  const { corral, weights, total, sum } = nearest;
  return bracket([dotExact(sum, sum), (total * scale) ** 2n], direction(nearest), corral, weights);
}

/**
 * Return the geometric margin, half the distance of the hulls, as a bracket.
 * @param {bigint[][]} rows
 * @param {number[]} label
 * @param {bigint} scale
 */
function marginBracket(rows, label, scale) {
  const sides = [0, 1].map((c) => rows.flatMap((v, i) => (label[i] === c ? [{ v, rows: [i] }] : [])));
  const lowest = (/** @type {bigint[]} */ q) => {
    const near = lowestOf(sides[1], q);
    const far = lowestOf(sides[0], negated(q));
    return { v: near.v.map((value, j) => value - far.v[j]), rows: [near.rows[0], far.rows[0]] };
  };
  const { corral, weights, total, sum } = nearestPoint(lowest(rows[0].map(() => 0n)), lowest);
  // The bias puts the boundary into the middle of the nearest points.
  const nearest = lowest(sum).rows.map((i) => dotExact(sum, rows[i]));
  const bias = fractionText(-(nearest[0] + nearest[1]), 2n * scale);
  const w = [...sum.map((value) => fractionText(value, 1n)), bias];
  return bracket([dotExact(sum, sum), (2n * total * scale) ** 2n], w, corral, weights).fields;
}

/** @param {Nearest} nearest */
const direction = ({ sum }) => primitive(sum).map((value) => fractionText(value, 1n));

/** @param {bigint[]} values */
const negated = (values) => values.map((value) => -value);

/**
 * Return a margin, given by its square, with the witnesses that prove it.
 * @param {[bigint, bigint]} square
 * @param {string[]} w
 * @param {Vertex[]} corral
 * @param {bigint[]} weights
 */
function bracket(square, w, corral, weights) {
  /** @type {Multiples} */
  const shares = new Map();
  corral.forEach((vertex, k) => {
    for (const i of vertex.rows) shares.set(i, (shares.get(i) ?? 0n) + weights[k]);
  });
  const [lower, upper] = [false, true].map((up) => rootOf(square, up));
  const witnesses = { rows: [...shares.keys()], weights: [...shares.values()].map((value) => fractionText(value, 1n)) };
  return { lower, fields: { lower: hexOf(lower), upper: hexOf(upper), w, ...witnesses } };
}

/**
 * Return floor((radius / margin)^2), exactly (Novikoff 1962).
 * @param {number} radius
 * @param {number} margin
 */
function mistakesBelow(radius, margin) {
  const [[a, b], [c, d]] = [ratioOf(radius), ratioOf(margin)];
  return (a * d) ** 2n / (b * c) ** 2n;
}

/**
 * Return the point in which the hulls meet, as hexadecimal floats: the mean of the support in the second class.
 * @param {bigint[][]} rows
 * @param {number[]} label
 * @param {Multiples} multiples
 * @param {bigint} scale
 */
function meetingPoint(rows, label, multiples, scale) {
  const own = [...multiples].filter(([i]) => label[i] === 1);
  const total = own.reduce((sum, [, value]) => sum + value, 0n);
  if (!own.length) return [];
  const sums = rows[0].map((_, j) => own.reduce((sum, [i, value]) => sum + value * rows[i][j], 0n));
  return sums.map((value) => hexOf(nearestDouble([value, total * scale])));
}

// ----------------------------------------------------------------------------------------------------------- the file

/** @param {bigint} value  in decimal; in hexadecimal above 4096 bits */
function integerText(value) {
  const digits = (value < 0n ? -value : value).toString(16);
  return digits.length <= 1024 ? String(value) : `${value < 0n ? "-" : ""}0x${digits}`;
}

/** @param {bigint} above @param {bigint} below */
function fractionText(above, below) {
  const [a, b] = primitive([above, below]);
  return `${integerText(a)}/${integerText(b)}`;
}

/**
 * Return the SHA-256 of the data.
 * @param {number[][]} X
 * @param {number[]} label
 */
function digestOf(X, label) {
  const head = new TextEncoder().encode(`rosenblatt\ndense\n${X.length}\n${X[0].length}\n`);
  const bytes = new Uint8Array(head.length + 8 * X.length * (1 + X[0].length));
  bytes.set(head);
  const view = new DataView(bytes.buffer, head.length);
  label.forEach((c, i) => {
    view.setBigInt64(8 * i, BigInt(c), true);
  });
  X.flat().forEach((value, k) => {
    view.setFloat64(8 * (X.length + k), value + 0, true); // -0 + 0 is 0
  });
  return sha256(bytes);
}

/**
 * Return JSON with sorted keys and without spaces. The fields have no letters beyond ASCII.
 * @param {any} value
 * @returns {string}
 */
function canonicalText(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (!value || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.keys(value).sort();
  return `{${entries.map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`).join(",")}}`;
}
