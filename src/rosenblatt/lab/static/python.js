// @ts-check
/** The Python program of a run: the same text as that of `rosenblatt.lab.answers`. */
import { DEGREES, featureMap } from "./features.js";
import { checkedScene } from "./scene.js";

/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Catalogue} Catalogue */
/** @typedef {import("./types").CheckedScene} CheckedScene */
/** @typedef {import("./types").Control} Control */

// For smaller values, estimators choose another constant for the bias than the 1 of the theorems.
const SMALL_VALUES = 0.5;
const SHUFFLES = /** @type {Record<string, any>} */ ({ cyclic: false, shuffled: true, random: "random" });

/**
 * Return a float as Python writes it.
 * @param {number} value
 */
function pythonFloat(value) {
  const [mantissa, exponent] = value.toExponential().split("e").map(String);
  const e = Number(exponent);
  if (e < -4 || e >= 16) return `${mantissa}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}`;
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/**
 * Return a value as Python writes it.
 * @param {any} value
 * @param {string} [kind]  "float" for a number that is one though it is whole
 */
function pythonValue(value, kind = "") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return `'${value}'`;
  return kind === "float" ? pythonFloat(value) : String(value);
}

/** @param {number} value */
const pythonNumber = (value) => (Number.isInteger(value) ? String(value) : pythonFloat(value));

/**
 * Return the arguments of the estimator that differ from its defaults.
 * @param {CheckedScene} checked
 * @param {number[][]} Z
 * @param {Catalogue} catalogue
 */
function argumentsOf({ learner, params, order, seed, epochs, start }, Z, catalogue) {
  const shown = learner.params.filter((control) => params[control.name] !== control.default);
  shown.sort((a, b) => Number(b.name === "eta0") - Number(a.name === "eta0"));
  const texts = shown.map(({ name, kind }) => `${name}=${pythonValue(params[name], kind)}`);
  const add = (/** @type {string} */ name, /** @type {any} */ value, /** @type {string} */ text) => {
    if (name in learner.defaults && learner.defaults[name] !== value) texts.push(`${name}=${text}`);
  };
  const most = Math.min(epochs, Math.max(1, Math.floor(catalogue.limits.trials / Z.length)));
  const shuffle = SHUFFLES[order];
  add("shuffle", shuffle, pythonValue(shuffle));
  add("random_state", seed, String(seed));
  add("max_iter", most, String(most));
  add("tol", null, "None");
  const values = Z.flat().filter(Boolean);
  const square = values.reduce((sum, value) => sum + value * value, 0) / values.length;
  if (square > 0 && square < SMALL_VALUES ** 2) add("intercept_scaling", 1, "1.0");
  if (start) {
    const numbers = start.map((value) => pythonFloat(value + 0));
    texts.push(`init=([${numbers.slice(0, -1).join(", ")}], ${numbers[numbers.length - 1]})`);
  }
  return texts.join(", ");
}

/**
 * Return the imports and the statements that create X and y.
 * @param {CheckedScene} checked
 * @param {Scene} scene
 * @param {Catalogue} catalogue
 * @returns {[string[], string[]]}
 */
function dataLines({ data, values }, scene, catalogue) {
  if (data === "points") {
    const rows = (scene.points ?? []).map((point) => `(${point.map(pythonNumber).join(", ")})`);
    return [[], [`points = np.array([${rows.join(", ")}])`, "X, y = points[:, :-1], points[:, -1].astype(int)"]];
  }
  if (["or", "and", "xor"].includes(data)) {
    return [["from rosenblatt.datasets import logical"], [`X, y = logical("${data}")`]];
  }
  if (data === "spam") return [["from rosenblatt.datasets import spam"], ["X, y = spam()"]];
  const controls = catalogue.data.find((one) => one.name === data)?.controls ?? [];
  const changed = controls.filter((control) => values[control.name] !== control.default);
  const texts = changed.map(({ name, kind }) => `, ${name}=${pythonValue(values[name], kind)}`);
  return [["from rosenblatt.lab.catalogue import points_of"], [`X, y = points_of("${data}"${texts.join("")})`]];
}

/**
 * Return the program that gives the weights of a scene after a trial.
 * @param {Scene & {t?: number}} scene
 * @param {Catalogue} catalogue
 */
export function pythonOf(scene, catalogue) {
  const checked = checkedScene(scene, catalogue);
  const { learner, features, units, seed, X } = checked;
  const Z = X.map(featureMap(features, X, units, seed));
  const [imports, data] = dataLines(checked, scene, catalogue);
  const names = [learner.name, "record"];
  const mapped = [];
  if (features === "quadratic") {
    mapped.push("i, j = np.triu_indices(X.shape[1])", "X = np.hstack([X, X[:, i] * X[:, j]])  # squares and products");
  }
  if (features === "cubic" || features === "quartic") {
    mapped.push("from rosenblatt.lab.catalogue import polynomial", `X = polynomial(X, ${DEGREES[features]})`);
  }
  if (features === "units") {
    names.push("AssociationUnits");
    mapped.push(`X = AssociationUnits(units="step", n_units=${units}, random_state=${seed}).fit(X).transform(X)`);
  }
  names.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const numpy = [...data, ...mapped].some((line) => line.includes("np.")) ? ["import numpy as np"] : [];
  const t = scene.t ?? 0;
  const weights = t
    ? [`state = run.at[${t} - 1]  # after trial ${t}`, "w, b = run.W[state], run.b[state]"]
    : ["w, b = run.W[0], run.b[0]  # before the first trial"];
  return `${[
    ...numpy,
    `from rosenblatt import ${names.join(", ")}`,
    ...imports,
    "",
    ...data,
    ...mapped,
    `run = record(${learner.name}(${argumentsOf(checked, Z, catalogue)}), X, y)`,
    ...weights,
    "print(w, b)",
  ].join("\n")}\n`;
}
