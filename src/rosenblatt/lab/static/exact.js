// @ts-check
/** Exact numbers: doubles as integers and fractions, fractions as doubles that are rounded as asked, and SHA-256. */

/** @typedef {[bigint, bigint]} Ratio  numerator, and a positive denominator */

/** @param {bigint} a @param {bigint} b @returns {bigint} */
export function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

/**
 * Return integers divided by what they have in common.
 * @param {bigint[]} values
 */
export function primitive(values) {
  const common = values.reduce(gcd, 0n);
  return common > 1n ? values.map((value) => value / common) : values;
}

/** @param {bigint[]} u @param {bigint[]} v */
export function dotExact(u, v) {
  return u.reduce((sum, value, j) => sum + value * v[j], 0n);
}

/**
 * Return rows of doubles times a power of ten that makes all of them integers. Each double stands for the shortest
 * decimal that rounds to it: 0.1 is one tenth.
 * @param {number[][]} rows
 * @returns {{rows: bigint[][], scale: bigint}}
 */
export function decimals(rows) {
  const parts = rows.map((row) =>
    row.map((value) => {
      const [, sign, whole, places = "", power = "0"] =
        /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
      return { digits: BigInt(sign + whole + places), power: Number(power) - places.length };
    }),
  );
  const lowest = Math.min(0, ...parts.flat().map((part) => part.power));
  const integers = parts.map((row) => row.map((part) => part.digits * 10n ** BigInt(part.power - lowest)));
  return { rows: integers, scale: 10n ** BigInt(-lowest) };
}

/**
 * Return a double as a fraction.
 * @param {number} value
 * @returns {Ratio}
 */
export function ratioOf(value) {
  let power = 0n;
  while (!Number.isInteger(value)) {
    value *= 2;
    power += 1n;
  }
  return [BigInt(value), 1n << power];
}

/**
 * Return the double nearest to a fraction, ties to even.
 * @param {Ratio} ratio
 */
export function nearestDouble([above, below]) {
  const size = above < 0n ? -above : above;
  // A quotient of more than 64 bits, its last bit set if anything is left: Number() then rounds once.
  const shift = BigInt(Math.max(0, 66 + below.toString(2).length - size.toString(2).length));
  const quotient = (size << shift) / below;
  const rounded = Number((size << shift) % below ? quotient | 1n : quotient);
  const value = rounded * 2 ** -Number(shift);
  return above < 0n ? -value : value;
}

/**
 * Return the next double above a positive one, or below it.
 * @param {number} value
 * @param {boolean} up
 */
function neighbour(value, up) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (up ? 1n : -1n));
  return view.getFloat64(0);
}

/**
 * Return the double next to the root of a positive fraction: the least that is not below it, or the largest that is
 * not above it.
 * @param {Ratio} square
 * @param {boolean} up
 */
export function rootOf([above, below], up) {
  // By a power of four the square comes near 1, where nothing overflows.
  const half = (below.toString(2).length - above.toString(2).length) >> 1;
  const [n, d] = half > 0 ? [above << BigInt(2 * half), below] : [above, below << BigInt(-2 * half)];
  const holds = (/** @type {number} */ root) => {
    const [a, b] = ratioOf(root);
    return up ? a * a * d >= n * b * b : a * a * d <= n * b * b;
  };
  let root = Math.sqrt(nearestDouble([n, d]));
  while (!holds(root)) root = neighbour(root, up);
  while (holds(neighbour(root, !up))) root = neighbour(root, !up);
  return root * 2 ** -half;
}

/**
 * Return a double as C's %a and Python's float.hex write it.
 * @param {number} value
 */
export function hexOf(value) {
  if (value === Infinity) return "inf";
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const digits = (bits & 0xfffffffffffffn).toString(16).padStart(13, "0");
  const sign = bits >> 63n ? "-" : "";
  if (value === 0) return `${sign}0x0.0p+0`;
  const power = exponent ? exponent - 1023 : -1022;
  return `${sign}0x${exponent ? 1 : 0}.${digits}p${power < 0 ? "-" : "+"}${Math.abs(power)}`;
}

/**
 * Return a double that was written by `hexOf`.
 * @param {string} text
 */
export function fromHex(text) {
  const [, sign, whole, digits, power] = /^(-?)0x([01])\.([0-9a-f]+)p([+-]\d+)$/.exec(text) ?? [];
  if (power === undefined) return text === "inf" ? Infinity : Number.NaN;
  const size = Number.parseInt(whole + digits, 16) * 2 ** (-4 * digits.length) * 2 ** Number(power);
  return sign ? -size : size;
}

/**
 * Return the SHA-256 of bytes in hexadecimal (FIPS 180-4). The browser's own is absent from pages without TLS.
 * @param {Uint8Array} bytes
 */
export function sha256(bytes) {
  const rotate = (/** @type {number} */ x, /** @type {number} */ n) => (x >>> n) | (x << (32 - n));
  const padded = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6));
  bytes.forEach((byte, i) => {
    padded.setUint8(i, byte);
  });
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(bytes.length) * 8n);
  const state = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  const constants = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
  const w = new Int32Array(64);
  for (let start = 0; start < padded.byteLength; start += 64) {
    for (let t = 0; t < 16; t++) w[t] = padded.getInt32(start + 4 * t);
    for (let t = 16; t < 64; t++) {
      const s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ (w[t - 15] >>> 3);
      const s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ (w[t - 2] >>> 10);
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t++) {
      const one = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] + w[t];
      const two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((value, k) => {
      state[k] = (state[k] + value) | 0;
    });
  }
  return state.map((value) => (value >>> 0).toString(16).padStart(8, "0")).join("");
}

/** The first 32 bits of the fractional part. @param {number} value */
const fraction = (value) => ((value - Math.floor(value)) * 2 ** 32) | 0;

/** @type {number[]} */
const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((prime) => n % prime !== 0)) PRIMES.push(n);
