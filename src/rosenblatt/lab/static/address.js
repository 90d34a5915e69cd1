// @ts-check
/** The state of the lab in the fragment of a URL, which `rosenblatt.lab.scene` reads too. */

/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").Catalogue} Catalogue */
/** @typedef {import("./types").Control} Control */

const LETTERS = "abcd";
const MOST_READABLE = 8; // points that are written as text; more are packed
const MOST_DECIMALS = 6;
const SCENE_KEYS = [
  "data",
  "p",
  "q",
  "learner",
  "features",
  "units",
  "order",
  "seed",
  "epochs",
  "start",
  "race",
  "names",
  "labels",
];
export const PARTS = ["data", "learner", "order", "settings", "race", "tour", "prove", "export", "edit"];

/** @returns {Scene} */
export function defaultScene() {
  return {
    data: "or",
    learner: "Perceptron",
    params: {},
    features: "none",
    order: "cyclic",
    seed: 0,
    epochs: 100,
    start: null,
    race: [],
  };
}

/** @returns {Look} */
export function defaultLook() {
  return { t: 0, view: "sphere", chapter: 0, exercise: "", hide: [], theme: "", speed: 4, projector: false };
}

/** @param {any} value */
const written = (value) => (value === null ? "none" : String(value));

/**
 * Return what a text from an address stands for.
 * @param {string} text
 * @param {Control | undefined} control
 */
function meant(text, control) {
  for (const one of [...(control?.choices ?? []), null, true, false]) if (written(one) === text) return one;
  const number = Number(text);
  return control?.kind === "choice" || text === "" || !Number.isFinite(number) ? text : number;
}

/**
 * Return the controls of a data set or the parameters of a learner by name.
 * @param {{name: string, controls?: Control[], params?: Control[]}[]} list
 * @param {string} name
 */
function controlsOf(list, name) {
  const found = list.find((one) => one.name === name);
  return found?.controls ?? found?.params ?? [];
}

// -------------------------------------------------------------------------------------------------------------- points

/**
 * Return points as text, 0.25,1.5a;-1,0.5b, or packed; with the key of the address for it.
 * @param {number[][]} points
 * @returns {[string, string]}
 */
export function writePoints(points) {
  const text = points.map((p) => p.slice(0, -1).join(",") + LETTERS[p[p.length - 1]]).join(";");
  const packed = points.length > MOST_READABLE ? packPoints(points) : null;
  return packed === null ? ["p", text] : ["q", packed];
}

/**
 * Return points in Base64: the number of decimals, the number of coordinates, and for each coordinate the difference to
 * the point before it, of the first coordinate together with the class. Null if six decimals do not suffice.
 * @param {number[][]} points
 */
function packPoints(points) {
  const width = points[0].length - 1;
  const exact = (/** @type {number} */ k) =>
    points.every((p) => p.slice(0, width).every((v) => Math.round(v * 10 ** k) / 10 ** k === v));
  const decimals = Array.from({ length: MOST_DECIMALS + 1 }, (_, k) => k).find(exact);
  if (decimals === undefined) return null;
  /** @type {number[]} */
  const bytes = [];
  const push = (/** @type {number} */ value) => {
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  };
  push(decimals);
  push(width);
  let before = new Array(width).fill(0);
  for (const point of points) {
    const whole = point.slice(0, width).map((v) => Math.round(v * 10 ** decimals));
    whole.forEach((value, j) => {
      const change = value - before[j];
      const unsigned = change < 0 ? -2 * change - 1 : 2 * change;
      push(j ? unsigned : 4 * unsigned + point[width]);
    });
    before = whole;
  }
  const text = btoa(bytes.map((byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Return the points of a packed text; none if it is damaged.
 * @param {string} text
 * @returns {number[][]}
 */
function unpackPoints(text) {
  if (!/^[\w-]+$/.test(text) || text.length % 4 === 1) return [];
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  let at = 0;
  const next = () => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = bytes.charCodeAt(at++);
      value += factor * (byte % 128);
      if (!(byte >= 128)) return value;
      factor *= 128;
    }
  };
  const [decimals, width] = [next(), next()];
  const points = [];
  let before = new Array(width).fill(0);
  while (at < bytes.length && width > 0 && width <= 50) {
    let label = 0;
    before = before.map((value, j) => {
      let unsigned = next();
      if (!j) [label, unsigned] = [unsigned % 4, Math.floor(unsigned / 4)];
      return value + (unsigned % 2 ? -(unsigned + 1) / 2 : unsigned / 2);
    });
    points.push([...before.map((value) => value / 10 ** decimals), label]);
  }
  return points;
}

/**
 * Return the points of an address; null if it has none.
 * @param {URLSearchParams} query
 */
function readPoints(query) {
  const [text, packed] = [query.get("p"), query.get("q")];
  if (packed !== null) return unpackPoints(packed);
  if (text === null) return null;
  return text
    .split(";")
    .filter(Boolean)
    .map((part) => [...part.slice(0, -1).split(",").map(Number), LETTERS.indexOf(part.slice(-1))]);
}

// --------------------------------------------------------------------------------------------------------------- parts

/** @param {import("./types").Racer} racer */
const racerText = (racer) =>
  [racer.learner, racer.order, ...Object.entries(racer.params).map(([k, v]) => `${k}=${written(v)}`)].join(":");

/**
 * @param {string} text
 * @param {Catalogue} catalogue
 */
function racerOf(text, catalogue) {
  const [learner, ...rest] = text.split(":");
  const order = rest.length && !rest[0].includes("=") ? String(rest.shift()) : "cyclic";
  const known = controlsOf(catalogue.learners, learner);
  const pairs = rest.map((part) => {
    const [name, value = ""] = part.split("=");
    return [
      name,
      meant(
        value,
        known.find((control) => control.name === name),
      ),
    ];
  });
  return { learner, order, params: Object.fromEntries(pairs) };
}

/**
 * Return the address of a scene and a look.
 * @param {Scene} scene
 * @param {Look} look
 * @param {Catalogue} catalogue
 */
export function toAddress(scene, look, catalogue) {
  /** @type {[string, string][]} */
  const pairs = [["data", scene.data]];
  const [blank, plainLook] = [defaultScene(), defaultLook()];
  for (const { name } of controlsOf(catalogue.data, scene.data)) {
    if (scene[name] !== undefined) pairs.push([name, written(scene[name])]);
  }
  if (scene.data === "points") {
    pairs.push(writePoints(scene.points ?? []));
    for (const name of ["names", "labels"]) if (scene[name]) pairs.push([name, scene[name].join(",")]);
  }
  pairs.push(["learner", scene.learner]);
  for (const [name, value] of Object.entries(scene.params)) pairs.push([`param.${name}`, written(value)]);
  for (const name of ["features", "units", "order", "seed", "epochs"]) {
    if (scene[name] !== undefined && scene[name] !== blank[name]) pairs.push([name, written(scene[name])]);
  }
  if (scene.start) pairs.push(["start", scene.start.join(",")]);
  if (scene.race.length) pairs.push(["race", scene.race.map(racerText).join(";")]);
  for (const name of /** @type {(keyof Look)[]} */ (Object.keys(plainLook))) {
    if (String(look[name]) !== String(plainLook[name])) pairs.push([name, String(look[name])]);
  }
  return pairs
    .map(
      ([key, value]) =>
        `${key}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3B", ";").replaceAll("%3A", ":")}`,
    )
    .join("&");
}

/**
 * Return the scene and the look of an address, and a note on the parts that are unknown here, which are left out. The
 * engine rejects wrong values.
 * @param {string} text
 * @param {Catalogue} catalogue
 * @returns {{scene: Scene, look: Look, note: string}}
 */
export function fromAddress(text, catalogue) {
  const query = new URLSearchParams(text.replace(/^#/, ""));
  const unknown = unknownParts(query, catalogue);
  for (const key of unknown) query.delete(key);
  const left = unknown.map((key) => key.slice(0, 40)).join(", ");
  const note = unknown.length ? `This lab does not know a part of the address and left it out: ${left}. ` : "";
  const chapter = catalogue.chapters.find((one) => String(one.number) === query.get("chapter"));
  const alone = chapter && !query.has("data") && !query.has("learner");
  if (alone) {
    const look = chapterLook(chapter, Object.fromEntries(query));
    return { scene: { ...defaultScene(), ...chapter.scene }, look, note };
  }
  const scene = defaultScene();
  for (const name of ["data", "learner", "features", "order"]) scene[name] = query.get(name) ?? scene[name];
  const numbers = [...controlsOf(catalogue.data, scene.data).map((c) => c.name), "units", "seed", "epochs"];
  for (const name of numbers) if (query.has(name)) scene[name] = meant(query.get(name) ?? "", undefined);
  for (const control of controlsOf(catalogue.learners, scene.learner)) {
    const value = query.get(`param.${control.name}`);
    if (value !== null) scene.params[control.name] = meant(value, control);
  }
  const points = readPoints(query);
  if (points) scene.points = points;
  for (const name of ["names", "labels"]) if (query.has(name)) scene[name] = query.get(name)?.split(",");
  if (query.has("start")) scene.start = (query.get("start") ?? "").split(",").map(Number);
  if (query.get("race")) scene.race = (query.get("race") ?? "").split(";").map((part) => racerOf(part, catalogue));
  return { scene, look: lookOf(Object.fromEntries(query)), note };
}

/**
 * Return the keys of an address that mean nothing here: of another version, or of a set or a learner that is not there.
 * @param {URLSearchParams} query
 * @param {Catalogue} catalogue
 */
function unknownParts(query, catalogue) {
  const lists = {
    data: catalogue.data,
    learner: catalogue.learners,
    order: catalogue.orders,
    features: catalogue.features,
  };
  const absent = Object.entries(lists)
    .filter(([key, list]) => query.has(key) && query.get(key) !== "points" && list.length)
    .filter(([key, list]) => !list.some((one) => one.name === query.get(key)))
    .map(([key]) => key);
  const learner = absent.includes("learner") ? "" : (query.get("learner") ?? defaultScene().learner);
  const known = new Set([
    ...SCENE_KEYS,
    ...Object.keys(defaultLook()),
    ...catalogue.data.flatMap((data) => data.controls.map((control) => control.name)),
    ...controlsOf(catalogue.learners, learner).map((control) => `param.${control.name}`),
  ]);
  const packed = query.get("q");
  const damaged = packed !== null && !unpackPoints(packed).length ? ["q"] : [];
  return [...absent, ...damaged, ...[...query.keys()].filter((key) => key && !known.has(key))];
}

/**
 * Return the look of a chapter, unless the address says otherwise.
 * @param {import("./types").Chapter} chapter
 * @param {Record<string, any>} [given]
 */
export function chapterLook(chapter, given = {}) {
  const { view, hide } = chapter;
  return lookOf({ t: 0, view, hide, ...given, chapter: chapter.number });
}

/**
 * Return a look from texts or values.
 * @param {Record<string, any>} given
 * @returns {Look}
 */
export function lookOf(given) {
  const look = defaultLook();
  const whole = (/** @type {any} */ value, /** @type {number} */ otherwise) => {
    const number = Math.floor(Number(value));
    return value !== undefined && Number.isFinite(number) && number >= 0 ? number : otherwise;
  };
  look.t = whole(given.t, 0);
  look.chapter = whole(given.chapter, 0);
  look.exercise = String(given.exercise ?? "");
  look.speed = whole(given.speed, look.speed);
  if (["sphere", "slice", "plane"].includes(given.view)) look.view = given.view;
  const hide = Array.isArray(given.hide) ? given.hide : String(given.hide ?? "").split(",");
  look.hide = hide.filter((part) => PARTS.includes(part));
  if (given.theme === "light" || given.theme === "dark") look.theme = given.theme;
  look.projector = given.projector === true || given.projector === "true" || given.projector === "1";
  return look;
}
