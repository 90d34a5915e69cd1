// @ts-check
/** Asking the engine for runs: one request is under way, and of those that came meanwhile the newest waits. */
import { readRun } from "./frames.js";

/** @typedef {import("./types").Ask} Ask */
/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Scene} Scene */

const PATIENCE_MS = 600; // after which the page says what it waits for
const waited = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));

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
 *   compiling: (what: string, scene: Scene) => void, rested: () => void, current: () => Scene}} told
 */
export function createRequests(ask, told) {
  /** @type {Scene | null} */
  let wanted = null;
  /** @type {Scene | null} */
  let promised = null; // asked for again, for its proofs
  let busy = false;

  /** @returns {Promise<any>} */
  const status = () => Promise.resolve(ask("status")).catch(() => ({ ready: true }));

  async function sayWhatIsAwaited() {
    while (busy) {
      const { compiling } = await status();
      if (busy && compiling) told.compiling(compiling, told.current());
      await waited(PATIENCE_MS);
    }
  }

  /** A run came before the search for proofs was compiled: ask once more when it is, for bound and solutions. */
  async function awaitProofs(/** @type {Scene} */ scene) {
    promised = scene;
    do await waited(3 * PATIENCE_MS);
    while (scene === told.current() && !(await status()).ready);
    if (scene === told.current()) request(scene);
  }

  /** @param {Scene} scene */
  async function request(scene) {
    wanted = scene;
    if (busy) return;
    busy = true;
    const patience = setTimeout(sayWhatIsAwaited, PATIENCE_MS);
    while (wanted) {
      const asked = wanted;
      wanted = null;
      try {
        const runs = (await Promise.all(entrants(asked).map((one) => ask("run", one)))).map(readRun);
        told.take(runs, asked, wanted);
        if (runs[0].about.proofs === false && promised !== asked) awaitProofs(asked);
      } catch (error) {
        if (!wanted) told.failed(error);
      }
    }
    clearTimeout(patience);
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
