// @ts-check
/** Exercises: a scene to change until a number of its run reaches a goal. The address of the page is the result. */
import { button, make } from "./elements.js";

/** @typedef {import("./types").Exercise} Exercise */
/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Run} Run */

/** @type {(keyof Scene)[]} */
const FIXED = ["data", "learner", "features", "order", "params", "start", "points"];

/**
 * Return what a run says about an exercise: whether its goal is reached, and a sentence.
 * @param {Exercise} exercise
 * @param {Scene} scene
 * @param {{updates: number, bound: number | null, gamma: number | null, ending: string}} run
 */
export function assess(exercise, scene, run) {
  const changed = broken(exercise, scene);
  if (changed) return { reached: false, sentence: changed };
  const value = run[exercise.measure];
  const name = exercise.measure === "bound" ? "the bound" : exercise.measure;
  const text = value === null ? `there is no ${exercise.measure}` : `${name} = ${Number(value.toPrecision(6))}`;
  if (run.ending !== "separated")
    return { reached: false, sentence: `Not yet: the run does not end without a mistake; ${text}.` };
  const reached = value !== null && (exercise.least ? value >= exercise.goal : value > 0 && value <= exercise.goal);
  const goal = `${exercise.least ? "at least" : "at most"} ${exercise.goal}`;
  return { reached, sentence: reached ? `Solved: ${text}.` : `Not yet: ${text}, and the goal is ${goal}.` };
}

/**
 * Return which rule of an exercise a scene breaks; empty if none.
 * @param {Exercise} exercise
 * @param {Scene} scene
 */
function broken(exercise, scene) {
  /** @type {Partial<Scene> & {points: number[][]}} */
  const given = { params: {}, features: "none", start: null, points: [], ...exercise.scene };
  const other = FIXED.filter((key) => key !== exercise.may_change).find(
    (key) => JSON.stringify(scene[key] ?? given[key]) !== JSON.stringify(given[key]),
  );
  if (other)
    return `Only the ${exercise.may_change} may be changed, and the ${other} differs. Open the exercise again.`;
  const start = scene.start ?? [];
  if (exercise.length && Math.hypot(...start) > exercise.length * (1 + 1e-9)) {
    return `The start is ${Math.hypot(...start).toPrecision(3)} from the origin, and ${exercise.length} is allowed.`;
  }
  const points = scene.points ?? [];
  const kept = given.points.filter((point) => points.some((one) => JSON.stringify(one) === JSON.stringify(point)));
  if (
    exercise.may_change === "points" &&
    Math.max(points.length, given.points.length) - kept.length > exercise.points
  ) {
    return `More than ${exercise.points} point was added or moved. Open the exercise again.`;
  }
  return "";
}

/**
 * Create the list of exercises.
 * @param {Element} host
 * @param {Exercise[]} exercises
 * @param {{open: (exercise: Exercise) => void, share: () => void}} acts
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
        make("p", {}, `Lecture ${one.lecture}. ${one.text}`),
        one === current ? result : button("Open", `Open exercise ${one.name}`, () => open(one)),
      ),
    );
    const how = "Each starts from a scene that you change. The lab says when the goal is reached; hand in the link.";
    host.replaceChildren(
      make("h3", {}, "Exercises"),
      make("p", { class: "soft" }, how),
      make("ol", { class: "exercises" }, ...list),
    );
  }

  /** @param {Exercise} exercise */
  function open(exercise) {
    current = exercise;
    result.replaceChildren();
    acts.open(exercise);
    show();
  }

  show();
  return {
    /** Go on with the exercise of an address. @param {string} name */
    resume(name) {
      current = exercises.find((one) => one.name === name) ?? null;
      show();
    },
    /** Compare a run with the goal. @param {Scene} scene @param {Parameters<typeof assess>[2]} run */
    check(scene, run) {
      if (!current) return;
      const { reached, sentence } = assess(current, scene, run);
      result.classList.toggle("reached", reached);
      result.replaceChildren(sentence);
      if (reached) result.append(" ", button("Copy the link", "Copy the link to this solution", acts.share));
    },
  };
}
