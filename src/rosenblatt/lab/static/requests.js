// @ts-check
/** Asking the engine for runs: one request is under way, and of those that came meanwhile the newest waits. */
import { readRun } from "./frames.js";

/** @typedef {import("./types").Ask} Ask */
/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Scene} Scene */

const LATE_MS = 600; // after which the page says that it waits

/**
 * The scene itself, and one for each rival of a race.
 * @param {Scene} scene
 * @returns {Scene[]}
 */
function entrants(scene) {
  const alone = { ...scene, race: [] };
  return [alone, ...scene.race.map((racer) => ({ ...alone, ...racer, start: null }))];
}

/**
 * Make the line of requests.
 * @param {Ask} ask
 * @param {{take: (runs: Run[], scene: Scene, newest: Scene | null) => void, failed: (error: unknown) => void,
 *   late: () => void, rested: () => void}} told
 */
export function createRequests(ask, told) {
  /** @type {Scene | null} */
  let wanted = null;
  let busy = false;

  /** @param {Scene} scene */
  async function request(scene) {
    wanted = scene;
    if (busy) return;
    busy = true;
    while (wanted) {
      const asked = wanted;
      wanted = null;
      const late = setTimeout(told.late, LATE_MS);
      try {
        const runs = (await Promise.all(entrants(asked).map((one) => ask("run", one)))).map(readRun);
        told.take(runs, asked, wanted);
      } catch (error) {
        if (!wanted) told.failed(error);
      } finally {
        clearTimeout(late);
      }
    }
    busy = false;
    told.rested();
  }

  return {
    request,
    get busy() {
      return busy;
    },
  };
}
