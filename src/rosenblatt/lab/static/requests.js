// @ts-check
/** Requests for runs: one at a time. While it is under way, only the newest other scene waits. */
import { readRun } from "./frames.js";

/** @typedef {import("./types").Ask} Ask */
/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Scene} Scene */

const LATE_MS = 600; // after which the page shows that it is waiting

/**
 * Return the scene itself, and one for each rival of a race.
 * @param {Scene} scene
 * @returns {Scene[]}
 */
function entrants(scene) {
  const alone = { ...scene, race: [] };
  return [alone, ...scene.race.map((racer) => ({ ...alone, ...racer, start: null }))];
}

/**
 * Create the queue of requests.
 * @param {Ask} ask
 * @param {{take: (runs: Run[], scene: Scene, newest: Scene | null) => void, failed: (error: unknown) => void,
 *   late: () => void, rested: () => void}} handlers
 */
export function createRequests(ask, handlers) {
  /** @type {Scene | null} */
  let waiting = null;
  let busy = false;

  /** @param {Scene} next */
  async function request(next) {
    waiting = next;
    if (busy) return;
    busy = true;
    while (waiting) {
      const scene = waiting;
      waiting = null;
      const late = setTimeout(handlers.late, LATE_MS);
      try {
        const runs = (await Promise.all(entrants(scene).map((one) => ask("run", one)))).map(readRun);
        handlers.take(runs, scene, waiting);
      } catch (error) {
        if (!waiting) handlers.failed(error);
      } finally {
        clearTimeout(late);
      }
    }
    busy = false;
    handlers.rested();
  }

  return {
    request,
    get busy() {
      return busy;
    },
  };
}
