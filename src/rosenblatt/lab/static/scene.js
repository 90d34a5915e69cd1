// @ts-check
/** A scene, checked against the catalogue as `rosenblatt.lab.scene` does it, with its points. */
import { DATASETS } from "./datasets.js";

/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Catalogue} Catalogue */
/** @typedef {import("./types").Control} Control */
/** @typedef {import("./types").CheckedScene} CheckedScene */

/** @param {any} value */
const quoted = (value) => (typeof value === "string" ? `'${value}'` : JSON.stringify(value));

/** @param {any} value */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/**
 * Return the entry of a list with a name; throw an error if there is none.
 * @param {string} what
 * @param {any[]} list
 * @param {any} name
 */
function oneOf(what, list, name) {
  const found = list.find((one) => one.name === name);
  if (!found) {
    const names = list.map((one) => one.name).join(", ");
    throw new Error(`${what}=${quoted(name)} is not known. Choose one of ${names}.`);
  }
  return found;
}

/**
 * Return a value of a control; throw an error if it is out of range or not a choice.
 * @param {Control} control
 * @param {any} value
 */
function checkedValue(control, value) {
  if (value === undefined || (value === null && control.default === null)) return control.default;
  const { kind, choices = [], min = 0, max = 0 } = control;
  const number = isNumber(value) && value >= min && value <= max;
  if (kind === "choice" && choices.includes(value)) return value;
  if (kind === "bool" && typeof value === "boolean") return value;
  if (number && (kind === "float" || (kind === "int" && Number.isInteger(value)))) return value;
  const allowed =
    kind === "choice"
      ? `one of ${choices.map((one) => one ?? "none").join(", ")}`
      : kind === "bool"
        ? "true or false"
        : `${kind === "int" ? "an integer" : "a number"} from ${min} to ${max}`;
  throw new Error(`${control.name}=${quoted(value)} is invalid. Choose ${allowed}.`);
}

/**
 * Return a value for each control.
 * @param {Control[]} controls
 * @param {Record<string, any>} given
 */
const checkedValues = (controls, given) =>
  Object.fromEntries(controls.map((control) => [control.name, checkedValue(control, given[control.name])]));

/**
 * Return the points of a scene: their coordinates, and their labels.
 * @param {Scene} scene
 * @param {Catalogue} catalogue
 */
function pointsOfScene(scene, catalogue) {
  if (scene.data !== "points") {
    const data = oneOf("data", catalogue.data, scene.data);
    const values = checkedValues(data.controls, scene);
    if (data.rows) {
      const rows = /** @type {number[][]} */ (data.rows);
      return { X: rows.map((row) => row.slice(0, -1)), labels: rows.map((row) => row[row.length - 1]), values };
    }
    return { ...DATASETS[data.name](values), values };
  }
  const { points = [] } = scene;
  const { limits } = catalogue;
  if (!points.length || points.length > limits.points) {
    throw new Error(`There are ${points.length} points. Draw 2 to ${limits.points}, of two classes at least.`);
  }
  for (const point of points) {
    const sound = Array.isArray(point) && point.every((value) => isNumber(value) && Math.abs(value) <= limits.largest);
    const label = sound ? point[point.length - 1] : -1;
    if (!sound || point.length !== points[0].length || point.length < 2 || ![0, 1, 2, 3].includes(label)) {
      throw new Error(`${JSON.stringify(point)} is not a point. Pass its coordinates, at most 1e+06, and its class.`);
    }
  }
  const labels = points.map((point) => point[point.length - 1]);
  if (new Set(labels).size < 2) {
    throw new Error("All points are of one class. Draw at least one point of another class.");
  }
  return { X: points.map((point) => point.slice(0, -1).map((value) => value + 0)), labels, values: {} };
}

/**
 * Return a scene with its points, its learner and a value for each setting; throw an error for the first wrong one.
 * @param {Scene} scene
 * @param {Catalogue} catalogue
 * @returns {CheckedScene}
 */
export function checkedScene(scene, catalogue) {
  const learner = oneOf("learner", catalogue.learners, scene.learner);
  const known = new Set(learner.params.map((/** @type {Control} */ one) => one.name));
  for (const name of Object.keys(scene.params ?? {})) {
    if (!known.has(name)) throw new Error(`${learner.name} has no parameter ${quoted(name)} in the lab.`);
  }
  const params = checkedValues(learner.params, scene.params ?? {});
  const features = oneOf("features", catalogue.features, scene.features ?? "none").name;
  if (features !== "none" && learner.kernel) {
    throw new Error(`features='${features}' are for linear learners; ${learner.name} has a kernel. Choose 'none'.`);
  }
  const [seed, epochs] = (catalogue.run ?? []).map((control) => checkedValue(control, scene[control.name]));
  const unitsControl = catalogue.features.flatMap((one) => one.controls ?? []).find((one) => one.name === "units");
  const units = unitsControl ? checkedValue(unitsControl, scene.units) : 0;
  const order = oneOf("order", catalogue.orders, scene.order ?? "cyclic").name;
  const { X, labels, values } = pointsOfScene(scene, catalogue);
  const start = scene.start?.some(Boolean) ? scene.start : null;
  if (start && !learner.start) {
    throw new Error(`${learner.name} cannot start from other weights. Drop the start, or choose another learner.`);
  }
  const classes = [...new Set(labels)].sort((a, b) => a - b);
  const multiclass = params.multiclass ?? "ovr";
  const modes = ["logistic", "modified_huber"].includes(params.loss) ? ["ovr", "ovo", "ovo-vote"] : learner.modes;
  if (classes.length > 2 && !modes.includes(multiclass)) {
    throw new Error(`${learner.name} cannot learn all classes jointly. Choose multiclass=${modes.join(", ")}.`);
  }
  return {
    data: scene.data,
    values,
    learner,
    params,
    features,
    units,
    seed,
    epochs,
    order,
    start,
    X,
    labels,
    classes,
    multiclass,
  };
}
