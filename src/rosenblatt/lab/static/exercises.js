// @ts-check
/**
 * Exercises that check themselves: a scene to change until all conditions on it hold. What is handed in is the address,
 * which has the scene and the name of the exercise: whoever opens it sees the same result.
 */
import { button, make } from "./elements.js";

/** @typedef {import("./types").Exercise} Exercise */
/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Ask} Ask */
/** @typedef {Record<string, number | boolean>} Quantities */

/** @type {Record<string, (a: any, b: any) => boolean>} */
const RELATIONS = { "=": (a, b) => a === b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b };

/** The points of a run, each with its class. @param {Run} run */
const pointsIn = (run) =>
  Array.from(run.y, (c, i) => [...run.X.subarray(i * run.d, (i + 1) * run.d), run.about.numbers?.[c] ?? c]);

/** The largest absolute value of whole numbers; infinite if one is not whole. @param {number[]} values */
const wholeUpTo = (values) => (values.every(Number.isInteger) ? Math.max(0, ...values.map(Math.abs)) : Infinity);

/**
 * Return every quantity of the conditions.
 * @param {Run} first  of the scene that the exercise starts from
 * @param {Run} run
 * @param {Scene} scene
 * @param {Ask} ask
 * @returns {Promise<Quantities>}
 */
async function quantitiesOf(first, run, scene, ask) {
  const [before, now] = [pointsIn(first), pointsIn(run)];
  const text = (/** @type {number[][]} */ points) => points.map(String);
  const moves = now.slice(0, before.length).map((p, i) => Math.hypot(p[0] - before[i][0], p[1] - before[i][1]));
  const [plain, mapped] = await Promise.all(
    ["none", "quadratic"].map((features) => ask("certificate", { ...scene, features, race: [] })),
  );
  return {
    points: now.length,
    distinct: new Set(now.map((p) => String(p.slice(0, -1)))).size === now.length,
    "same points": String(text(now).sort()) === String(text(before).sort()),
    "old points kept": String(text(now.slice(0, before.length))) === String(text(before)),
    "moved points": moves.filter((move) => move > 0).length,
    "distance moved": Math.max(...moves),
    "whole numbers up to": wholeUpTo(now.flatMap((p) => p.slice(0, -1))),
    "start up to": wholeUpTo(scene.start ?? []),
    mistakes: run.mistakes[run.ended],
    updates: run.mistake.subarray(0, run.ended).filter((bits) => bits & 2).length,
    epochs: run.recorded.about.epochs_end.length,
    cycle: run.about.cycle ?? 0,
    separable: plain.file.verdict === "separable",
    "separable by quadratic features": mapped.file.verdict === "separable",
    bound: Number(plain.file.mistake_bound ?? Number.NaN),
  };
}

/** @param {[string, string, number | boolean]} condition @param {Quantities} found */
function shortfall([name, relation, goal], found) {
  const value = found[name];
  if (RELATIONS[relation](value, goal)) return "";
  if (typeof goal === "boolean") return goal ? `not ${name}` : name;
  const shown = Number.isFinite(value) ? Number(Number(value).toPrecision(4)) : "none";
  return `${name}: ${shown}, and it must be ${{ "=": "", ">=": "at least ", "<=": "at most " }[relation] ?? ""}${goal}`;
}

/**
 * Create the list of exercises.
 * @param {Element} host
 * @param {Exercise[]} exercises
 * @param {{ask: Ask, run: (address: string) => Promise<Run>, open: (exercise: Exercise) => void,
 *   share: () => void}} acts
 */
export function exercisePanel(host, exercises, acts) {
  const result = make("p", { class: "result", role: "status" });
  /** @type {Exercise | null} */
  let current = null;

  function show() {
    const list = exercises.map((one) =>
      make(
        "li",
        { class: one === current ? "current" : "" },
        make("h4", {}, one.title),
        make("p", {}, make("span", { class: "soft" }, `Lecture ${one.lecture}. `), one.task),
        one === current ? result : "",
        startButton(one),
      ),
    );
    const how = "Change the scene until the lab says that it is solved, and hand in the link.";
    host.replaceChildren(
      make("h3", {}, "Exercises"),
      make("p", { class: "soft" }, how),
      make("ol", { class: "exercises" }, ...list),
    );
  }

  /** @param {Exercise} exercise */
  function startButton(exercise) {
    const label = exercise === current ? "Start again" : "Start";
    return button(label, exercise.title, () => start(exercise), { "aria-label": `${label}: ${exercise.title}` });
  }

  /** @param {Exercise} exercise */
  function start(exercise) {
    resume(exercise.id);
    acts.open(exercise);
  }

  /** Go on with an exercise. @param {string} id */
  function resume(id) {
    current = exercises.find((one) => one.id === id) ?? null;
    result.replaceChildren();
    show();
  }

  /**
   * Say whether a scene solves the exercise, and what is missing.
   * @param {Scene} scene
   * @param {Run} run
   */
  async function check(scene, run) {
    const exercise = current;
    if (!exercise) return;
    let first;
    let found;
    try {
      first = await acts.run(exercise.scene);
      found = await quantitiesOf(first, run, scene, acts.ask);
    } catch (error) {
      // A scene that has no proof here, such as one of three classes.
      result.classList.remove("reached");
      return result.replaceChildren(`Not yet: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (exercise !== current) return;
    const same = (/** @type {Partial<Scene>} */ one) => JSON.stringify([one.learner, one.params ?? {}, one.order]);
    const missing = exercise.check.map((condition) => shortfall(condition, found)).filter(Boolean);
    if (same(first.about.scene) !== same(run.about.scene)) missing.unshift("the learner or its settings were changed");
    result.classList.toggle("reached", !missing.length);
    if (missing.length) return result.replaceChildren(`Not yet: ${missing.join("; ")}.`);
    const handed = `Solved, with ${exercise.result} ${found[exercise.result]}. `;
    result.replaceChildren(handed, button("Link to hand in", "Share this solution", acts.share));
  }

  show();
  return { resume, check };
}
