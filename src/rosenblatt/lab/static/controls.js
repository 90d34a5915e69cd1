// @ts-check
/** The controls in the header: data, learner, order, and the settings of each. */
import { choiceBox, make, short } from "./elements.js";
import { coordinateName } from "./frames.js";
import { matters, valueName, WORDS } from "./words.js";

/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Catalogue} Catalogue */
/** @typedef {import("./types").Control} Control */

const SLIDER_STEPS = 200;
const OWN = { name: "points", title: "my points", sentence: "Points drawn, pasted or read from a file." };

/**
 * Create a menu: a button with a panel that opens below it.
 * @param {string} face
 * @param {string} label
 * @param {Record<string, any>} attributes
 * @param {...(Node | string)} children
 */
export function menu(face, label, attributes, ...children) {
  const panel = make("div", { class: "menu-panel" }, ...children);
  const box = make("details", { class: "menu", ...attributes }, make("summary", { title: label }, face), panel);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.open) return;
    if (box.contains(document.activeElement)) box.querySelector("summary")?.focus();
    box.open = false;
  });
  document.addEventListener("pointerdown", (event) => {
    if (box.open && !event.composedPath().includes(box)) box.open = false;
  });
  return { box, panel };
}

/**
 * Create the field of a control.
 * @param {Control} control
 * @param {any} value  undefined means the default
 * @param {(value: any) => void} change
 */
export function controlField(control, value, change) {
  const now = value === undefined ? control.default : value;
  const words = WORDS[control.name];
  const title = make("span", { class: "field-name" }, words?.title ?? control.name.replaceAll("_", " "));
  const sentence = words?.sentence || control.sentence;
  const help = make("span", { class: "field-help" }, `${sentence} ${allowed(control)}`);
  const field = (/** @type {Node[]} */ ...inputs) =>
    make("label", { class: "field", "data-setting": control.name }, title, ...inputs, help);
  if (control.kind === "bool") {
    const box = make("input", { type: "checkbox", checked: Boolean(now), onchange: () => change(box.checked) });
    return field(box);
  }
  if (control.kind === "choice") {
    const choices = control.choices ?? [];
    const options = choices.map((c, i) => make("option", { value: i, selected: c === now }, valueName(c)));
    const box = make("select", { onchange: () => change(choices[Number(box.value)]) }, ...options);
    return field(box);
  }
  return numberField(control, now, change, field);
}

/**
 * Return the values that a number may have.
 * @param {Control} control
 */
function allowed(control) {
  if (control.kind !== "int" && control.kind !== "float") return "";
  return `${short(control.min ?? 0)} to ${short(control.max ?? 1)}.`;
}

/**
 * Create the field of a number: a slider with its value; for a seed or an optional number, an input.
 * @param {Control} control
 * @param {any} now
 * @param {(value: any) => void} change
 * @param {(...inputs: Node[]) => HTMLElement} field
 */
function numberField(control, now, change, field) {
  const [low, high] = [control.min ?? 0, control.max ?? 1];
  if (control.default === null || control.name.endsWith("seed")) {
    const number = { type: "number", min: low, max: high, step: control.kind === "int" ? 1 : "any" };
    const act = () => {
      if (box.value === "" && control.default === null) change(null);
      else if (box.value !== "" && box.checkValidity()) change(Number(box.value));
    };
    const box = make("input", { ...number, value: now ?? "", placeholder: "auto", onchange: act });
    return field(box);
  }
  const whole = control.kind === "int";
  const curved = control.log || (whole && high / Math.max(1, low) > 50);
  const from = curved ? Math.log(Math.max(low, 1e-9)) : low;
  const to = curved ? Math.log(high) : high;
  const position = (/** @type {number} */ v) =>
    (((curved ? Math.log(Math.max(v, 1e-9)) : v) - from) / (to - from)) * SLIDER_STEPS;
  const valueAt = (/** @type {number} */ p) => {
    const v = from + (p / SLIDER_STEPS) * (to - from);
    const plain = curved ? Number(Math.exp(v).toPrecision(2)) : v;
    const step = whole ? 1 : curved ? 0 : control.step || 0.01;
    return Math.min(high, Math.max(low, step ? Number((Math.round(plain / step) * step).toPrecision(10)) : plain));
  };
  const output = make("output", {}, short(now));
  const slider = make("input", {
    type: "range",
    min: 0,
    max: SLIDER_STEPS,
    step: "any",
    value: position(now),
    "aria-valuetext": short(now),
    oninput: () => {
      const value = valueAt(Number(slider.value));
      output.textContent = short(value);
      slider.setAttribute("aria-valuetext", short(value));
      change(value);
    },
  });
  return field(slider, output);
}

/**
 * Create the choices in the header and the panel of settings.
 * @param {Catalogue} catalogue
 * @param {(change: Partial<Scene>, group?: string) => void} change
 */
export function sceneControls(catalogue, change) {
  const boxes = make("div", { class: "boxes" });
  const form = make("div", { class: "settings" });
  let built = "";

  /** @param {Scene} scene */
  function chooseData(scene) {
    return (/** @type {string} */ name) => {
      const fresh = Object.fromEntries(catalogue.data.flatMap((d) => d.controls).map((c) => [c.name, undefined]));
      const columns = catalogue.data.find((d) => d.name === name)?.columns?.length ?? 2;
      const own = { names: undefined, labels: undefined };
      change({ ...fresh, ...own, data: name, start: columns === 2 ? scene.start : null });
    };
  }

  /** @param {string} name */
  function chooseLearner(name) {
    const learner = catalogue.learners.find((one) => one.name === name);
    const kept = learner?.start === false ? { start: null } : {};
    change({ learner: name, params: {}, ...kept, ...(learner?.kernel ? { features: "none" } : {}) });
  }

  /** @param {string} title @param {Node[]} fields @param {string} [sentence] */
  function section(title, fields, sentence = "") {
    return make(
      "fieldset",
      {},
      make("legend", {}, title),
      ...(sentence ? [make("p", { class: "soft" }, sentence)] : []),
      ...fields,
    );
  }

  /** @param {Scene} scene */
  function build(scene) {
    const data = catalogue.data.find((one) => one.name === scene.data);
    const learner = catalogue.learners.find((one) => one.name === scene.learner);
    const features = catalogue.features.find((one) => one.name === scene.features);
    const sets = scene.data === "points" ? [OWN, ...catalogue.data] : catalogue.data;
    const part = (/** @type {string} */ name, /** @type {HTMLElement} */ node) => {
      node.dataset.part = name;
      return node;
    };
    boxes.replaceChildren(
      part("data", choiceBox("data", sets, scene.data, chooseData(scene))),
      part("learner", choiceBox("learner", catalogue.learners, scene.learner, chooseLearner)),
      part(
        "order",
        choiceBox("order", catalogue.orders, scene.order, (order) => change({ order })),
      ),
    );
    const top = (/** @type {Control} */ c) =>
      controlField(c, scene[c.name], (v) => change({ [c.name]: v }, `set ${c.name}`));
    const own = (/** @type {Control} */ c) =>
      controlField(c, scene.params[c.name], (v) =>
        change({ params: { ...latest.params, [c.name]: v } }, `param ${c.name}`),
      );
    const maps = catalogue.features.map((one) => ({ ...one, title: coordinateName(one.title) }));
    const map = choiceBox("features", maps, scene.features, (name) => change({ features: name, start: null }));
    const runs = [...(features?.controls ?? []), ...(catalogue.run ?? [])].map(top);
    form.replaceChildren(
      ...(data ? [section(data.title, data.controls.map(top), data.sentence)] : []),
      section(learner?.title ?? scene.learner, (learner?.params ?? []).map(own)),
      section("Run", [...(learner?.kernel ? [] : [map]), ...runs]),
    );
  }

  let latest = /** @type {Scene} */ ({});
  return {
    boxes,
    form,
    /** @param {Scene} scene @param {boolean} [rebuild] */
    show(scene, rebuild = false) {
      latest = scene;
      const key = [scene.data, scene.learner, scene.features, scene.order].join();
      if (key !== built || rebuild) build(scene);
      built = key;
      const known = catalogue.learners.find((one) => one.name === scene.learner)?.params ?? [];
      for (const { name } of known) {
        const field = form.querySelector(`[data-setting="${CSS.escape(name)}"]`);
        field?.classList.toggle("gone", !matters(name, scene.params, known));
      }
    },
  };
}
