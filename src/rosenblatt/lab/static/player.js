// @ts-check
/** Playing forwards and backwards, and finding the next update or epoch. */

/** @typedef {import("./types").Run} Run */

export const SPEEDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const UPDATES_PER_SECOND = 2; // for users who prefer reduced motion

/**
 * Return the next trial, forwards or backwards, with a mistake or an update; the first or last trial if there is none.
 * @param {Run} run
 * @param {number} t
 * @param {number} way  1 or -1
 */
export function nextUpdate(run, t, way) {
  const mattered = (/** @type {number} */ s) => (run.mistake[s - 1] & 3) !== 0;
  let s = t + way;
  while (s > 0 && s < run.trials && !mattered(s)) s += way;
  return Math.max(0, Math.min(run.trials, s));
}

/**
 * Return the next end of an epoch.
 * @param {Run} run
 * @param {number} t
 * @param {number} way
 */
export function nextEpoch(run, t, way) {
  const ends = [0, ...run.about.epochs_end];
  const found = way > 0 ? ends.find((end) => end > t) : ends.findLast((end) => end < t);
  return found ?? (way > 0 ? run.trials : 0);
}

/**
 * Create a player of trials.
 * @param {{at: () => number, last: () => number, go: (t: number) => void, jump: (t: number, way: number) => number,
 *   changed: (way: number) => void}} film
 */
export function createPlayer(film) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let request = 0;
  let way = 0;
  let speed = 4;

  function pause() {
    cancelAnimationFrame(request);
    if (!way) return;
    way = 0;
    film.changed(0);
  }

  /** @param {number} [direction] */
  function play(direction = 1) {
    cancelAnimationFrame(request);
    if (direction > 0 && film.at() >= film.last()) film.go(0);
    if (film.last() === 0 || (direction < 0 && film.at() === 0)) return;
    way = direction;
    film.changed(way);
    let then = performance.now();
    let owed = 1; // trials; the first step is immediate
    const tick = (/** @type {number} */ now) => {
      owed += (Math.max(0, now - then) / 1000) * (still.matches ? UPDATES_PER_SECOND : speed);
      then = now;
      const steps = Math.floor(owed);
      if (steps > 0) {
        owed -= steps;
        const next = still.matches ? film.jump(film.at(), way) : film.at() + way * steps;
        film.go(Math.max(0, Math.min(film.last(), next)));
      }
      if (film.at() === (way > 0 ? film.last() : 0)) pause();
      else if (way) request = requestAnimationFrame(tick);
    };
    request = requestAnimationFrame(tick);
  }

  return {
    play,
    pause,
    toggle: () => (way ? pause() : play()),
    get way() {
      return way;
    },
    get speed() {
      return speed;
    },
    set speed(trials) {
      speed = Math.max(SPEEDS[0], Math.min(SPEEDS[SPEEDS.length - 1], trials || 4));
    },
  };
}
