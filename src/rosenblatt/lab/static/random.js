// @ts-check
/**
 * NumPy's random numbers: what Python draws from a seed, the page draws too. Uniform numbers and integers are the same
 * bit for bit, normal ones up to rounding.
 */

const BITS_32 = 0xffffffffn;
const BITS_64 = (1n << 64n) - 1n;
const BITS_128 = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

/**
 * Return the 64-bit words that NumPy's SeedSequence makes of a seed below 2^32 (O'Neill's seed_seq).
 * @param {number} seed
 */
function seedWords(seed) {
  let constant = 0x43b0d7e5;
  const hashed = (/** @type {number} */ value, /** @type {number} */ factor) => {
    const mixed = value ^ constant;
    constant = Math.imul(constant, factor);
    const product = Math.imul(mixed, constant);
    return product ^ (product >>> 16);
  };
  const pool = [seed, 0, 0, 0].map((word) => hashed(word, 0x931e8875));
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) {
      if (from === to) continue;
      const mixed = Math.imul(pool[to], 0xca01f9dd) - Math.imul(hashed(pool[from], 0x931e8875), 0x4973f715);
      pool[to] = mixed ^ (mixed >>> 16);
    }
  }
  constant = 0x8b51f9dd;
  const words = [...pool, ...pool].map((word) => BigInt(hashed(word, 0x58f38ded) >>> 0));
  return [0, 2, 4, 6].map((k) => words[k] | (words[k + 1] << 32n));
}

/** The generator of `numpy.random.default_rng(seed)`, PCG64. */
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    const [high, low, increment, last] = seedWords(seed);
    this.increment = ((((increment << 64n) | last) << 1n) | 1n) & BITS_128;
    this.state = (this.increment + ((high << 64n) | low)) & BITS_128;
    /** @type {number | null} */
    this.half = null; // of the last 64 bits, not used yet
    this.#step();
  }

  #step() {
    this.state = (this.state * MULTIPLIER + this.increment) & BITS_128;
  }

  bits64() {
    this.#step();
    const [word, turn] = [(this.state >> 64n) ^ (this.state & BITS_64), this.state >> 122n];
    return ((word & BITS_64) >> turn) | ((word << (64n - turn)) & BITS_64);
  }

  bits32() {
    if (this.half !== null) {
      const half = this.half;
      this.half = null;
      return half;
    }
    const word = this.bits64();
    this.half = Number(word >> 32n);
    return Number(word & BITS_32);
  }

  /** Return a number from 0 and below 1. */
  uniform() {
    return Number(this.bits64() >> 11n) / 2 ** 53;
  }

  /**
   * Return an integer from 0 to `most` (Lemire's way).
   * @param {number} most
   */
  integer(most) {
    if (!most) return 0;
    const size = BigInt(most + 1);
    const least = (BITS_32 - BigInt(most)) % size;
    for (;;) {
      const product = BigInt(this.bits32()) * size;
      if ((product & BITS_32) >= least) return Number(product >> 32n);
    }
  }

  /**
   * Return a permutation of 0 to n - 1. Integers are drawn in another way than elsewhere: too large ones are rejected.
   * @param {number} n
   */
  permutation(n) {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const mask = 2 ** (32 - Math.clz32(i)) - 1;
      let j = this.bits32() & mask;
      while (j > i) j = this.bits32() & mask;
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }

  /**
   * Return a set of integers below n (Floyd's way).
   * @param {number} n
   * @param {number} size
   */
  choice(n, size) {
    /** @type {Set<number>} */
    const chosen = new Set();
    for (let j = n - size; j < n; j++) {
      const drawn = this.integer(j);
      chosen.add(chosen.has(drawn) ? j : drawn);
    }
    return chosen;
  }

  /** Return a standard normal number, by the ziggurat of Marsaglia and Tsang (2000). */
  normal() {
    for (;;) {
      const word = this.bits64();
      const layer = Number(word & 255n);
      const place = Number((word >> 9n) & 0xfffffffffffffn);
      const x = (word & 256n ? -1 : 1) * place * ZIGGURAT.width[layer];
      if (place < ZIGGURAT.inside[layer]) return x;
      if (layer) {
        const [above, below] = [ZIGGURAT.height[layer - 1], ZIGGURAT.height[layer]];
        if ((above - below) * this.uniform() + below < Math.exp(-0.5 * x * x)) return x;
        continue;
      }
      for (;;) {
        const tail = -Math.log1p(-this.uniform()) / ZIGGURAT_EDGE;
        const test = -Math.log1p(-this.uniform());
        if (2 * test > tail * tail) return (place / 256) & 1 ? -(ZIGGURAT_EDGE + tail) : ZIGGURAT_EDGE + tail;
      }
    }
  }

  /**
   * Return several normal numbers.
   * @param {number} count
   */
  normals(count) {
    return Array.from({ length: count }, () => this.normal());
  }
}

const ZIGGURAT_EDGE = 3.6541528853610088; // where the tail begins
const ZIGGURAT_AREA = 0.004928673233974658; // of each of the 256 layers
const ZIGGURAT = ziggurat();

function ziggurat() {
  const [width, height, inside] = [0, 1, 2].map(() => new Float64Array(256));
  const density = (/** @type {number} */ x) => Math.exp(-0.5 * x * x);
  let x = ZIGGURAT_EDGE;
  const base = ZIGGURAT_AREA / density(x);
  width[0] = base / 2 ** 52;
  inside[0] = (x / base) * 2 ** 52;
  height[0] = 1;
  for (let layer = 255; layer > 0; layer--) {
    width[layer] = x / 2 ** 52;
    height[layer] = density(x);
    const next = layer > 1 ? Math.sqrt(-2 * Math.log(ZIGGURAT_AREA / x + density(x))) : 0;
    inside[layer] = (next / x) * 2 ** 52;
    x = next;
  }
  return { width, height, inside };
}

/**
 * Return the seed that scikit-learn's `check_random_state(seed).randint(2**31 - 1)` draws, from MT19937.
 * @param {number} seed
 */
export function legacySeed(seed) {
  const state = new Uint32Array(624);
  state[0] = seed;
  for (let k = 1; k < 624; k++) state[k] = Math.imul(1812433253, state[k - 1] ^ (state[k - 1] >>> 30)) + k;
  for (let k = 0; ; k++) {
    const mixed = (state[k] & 0x80000000) | (state[k + 1] & 0x7fffffff);
    let word = state[k + 397] ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    word ^= word >>> 18;
    if ((word & 0x7fffffff) !== 0x7fffffff) return word & 0x7fffffff;
  }
}
