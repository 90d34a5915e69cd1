// @ts-check
/** Creating elements: always by the DOM, never from text. */

const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";

const ICONS = {
  start: "M3 3h2v10H3zM13 3v10L6 8z",
  rewind: "M8 3v10L2 8zM14 3v10L8 8z",
  back: "M12 3v10L4 8z",
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  on: "M3 3v10l7-5zM11 3h2v10h-2z",
  update: "M2 3v10l5-5zM7 3v10l5-5zM12.5 3h1.5v10h-1.5z",
  epoch: "M1.5 3v10l4-5zM6 3v10l4-5zM11 2.5h1.4v11H11zM13.4 2.5h1.4v11h-1.4z",
  theme: "M8 1.5a6.5 6.5 0 1 0 0 13zM8 1.5a6.5 6.5 0 0 1 0 13v-1.6a4.9 4.9 0 0 0 0-9.8z",
  undo: "M6 2L1.5 6L6 10V7.2h3.5a2.6 2.6 0 0 1 0 5.2H5V14h4.5a4.3 4.3 0 0 0 0-8.6H6z",
  redo: "M10 2l4.5 4L10 10V7.2H6.500a2.600 2.600 0 0 0 0 5.200H11V14H6.500a4.300 4.300 0 0 1 0-8.600H10z",
};

/** The shapes of the classes: classes never differ by colour alone. */
export const SHAPES = [
  "M-6 0A6 6 0 1 0 6 0A6 6 0 1 0 -6 0Z",
  "M-5.4 -5.4H5.4V5.4H-5.4Z",
  "M0 -7L6.6 5H-6.6Z",
  "M0 -7.4L7.4 0L0 7.4L-7.4 0Z",
];

/**
 * Create an HTML element. Attributes that begin with "on" are listeners; false and null ones are skipped.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/**
 * Create an SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {Element | null} [parent]
 * @param {string} [text]
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function draw(tag, attributes = {}, parent = null, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text) node.textContent = text;
  parent?.append(node);
  return node;
}

/**
 * Create a MathML element.
 * @param {string} tag
 * @param {...(Node | string)} children
 * @returns {Element}
 */
export function makeMath(tag, ...children) {
  const node = document.createElementNS(MATHML, tag);
  node.append(...children);
  return node;
}

/**
 * Set several attributes.
 * @param {Element} node
 * @param {Record<string, any>} attributes
 */
export function assign(node, attributes) {
  for (const key in attributes) node.setAttribute(key, String(attributes[key]));
}

/** @param {keyof typeof ICONS} name */
export function icon(name) {
  const svg = draw("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" });
  draw("path", { d: ICONS[name] }, svg);
  return svg;
}

/**
 * Create the mark of a class.
 * @param {number} k
 */
export function classMark(k) {
  const svg = draw("svg", { viewBox: "-9 -9 18 18", class: "mark", "aria-hidden": "true" });
  draw("path", { d: SHAPES[k], class: `point k${k}` }, svg);
  return svg;
}

/**
 * Create a button with an icon or a word.
 * @param {string} face  name of an icon, or the text itself
 * @param {string} label  what it does, with its key
 * @param {(event: Event) => void} act
 * @param {Record<string, any>} [attributes]
 */
export function button(face, label, act, attributes = {}) {
  const drawn = face in ICONS;
  const name = drawn ? { "aria-label": label } : {};
  const child = drawn ? icon(/** @type {keyof typeof ICONS} */ (face)) : face;
  return make("button", { type: "button", title: label, ...name, ...attributes, onclick: act }, child);
}

/**
 * Create a labelled select element.
 * @param {string} label
 * @param {{name: string, title: string, sentence?: string}[]} options
 * @param {string} value
 * @param {(value: string) => void} change
 */
export function choiceBox(label, options, value, change) {
  const entries = options.map((option) =>
    make("option", { value: option.name, title: option.sentence, selected: option.name === value }, option.title),
  );
  const box = make("select", { onchange: () => change(box.value) }, ...entries);
  return make("label", {}, make("span", {}, label), box);
}

/**
 * Return a number with few digits, and with a true minus sign.
 * @param {number} value
 * @param {number} [digits]
 */
export function short(value, digits = 3) {
  if (!Number.isFinite(value)) return value > 0 ? "\u221e" : value < 0 ? "\u2212\u221e" : "?";
  if (Math.abs(value) < 1e-12) return "0";
  const large = Math.abs(value) >= 10 ** digits && Math.abs(value) < 1e6;
  const text = large ? value.toFixed(0) : Number(value.toPrecision(digits)).toString();
  return text.replaceAll("-", "\u2212");
}

/**
 * Return an upper bound with few digits, rounded up: it is still a bound.
 * @param {number} bound
 * @returns {string}
 */
export function roundedUp(bound) {
  const step = bound < 1e6 ? 1 : 10 ** (Math.floor(Math.log10(bound)) - 2);
  return short(Math.ceil(bound / step) * step);
}

/**
 * Return a number with its noun: "1 mistake", "2 mistakes".
 * @param {number} n
 * @param {string} word
 * @param {string} [many]
 */
export function counted(n, word, many = `${word}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? word : many}`;
}
