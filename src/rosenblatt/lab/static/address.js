// @ts-check
/** The state of the lab in the fragment of a URL, which `rosenblatt.lab.scene` reads too. */

/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").Catalogue} Catalogue */
/** @typedef {import("./types").Control} Control */

const LETTERS = "abcd";
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
  return { t: 0, view: "sphere", chapter: 0, hide: [], theme: "", speed: 4, projector: false };
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
    const text = (scene.points ?? []).map((p) => p.slice(0, -1).join(",") + LETTERS[p[p.length - 1]]);
    pairs.push(["p", text.join(";")]);
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
 * Return the scene and the look of an address. Unknown keys are ignored; the engine rejects wrong values of a scene.
 * @param {string} text
 * @param {Catalogue} catalogue
 * @returns {{scene: Scene, look: Look}}
 */
export function fromAddress(text, catalogue) {
  const query = new URLSearchParams(text.replace(/^#/, ""));
  const chapter = catalogue.chapters.find((one) => String(one.number) === query.get("chapter"));
  const alone = chapter && !query.has("data") && !query.has("learner");
  if (alone)
    return { scene: { ...defaultScene(), ...chapter.scene }, look: chapterLook(chapter, Object.fromEntries(query)) };
  const scene = defaultScene();
  for (const name of ["data", "learner", "features", "order"]) scene[name] = query.get(name) ?? scene[name];
  const numbers = [...controlsOf(catalogue.data, scene.data).map((c) => c.name), "units", "seed", "epochs"];
  for (const name of numbers) if (query.has(name)) scene[name] = meant(query.get(name) ?? "", undefined);
  const known = controlsOf(catalogue.learners, scene.learner);
  for (const [key, value] of query) {
    const name = key.replace("param.", "");
    if (key !== name)
      scene.params[name] = meant(
        value,
        known.find((control) => control.name === name),
      );
  }
  if (query.has("p")) {
    scene.points = (query.get("p") ?? "")
      .split(";")
      .filter(Boolean)
      .map((part) => {
        return [...part.slice(0, -1).split(",").map(Number), LETTERS.indexOf(part.slice(-1))];
      });
  }
  for (const name of ["names", "labels"]) if (query.has(name)) scene[name] = query.get(name)?.split(",");
  if (query.has("start")) scene.start = (query.get("start") ?? "").split(",").map(Number);
  if (query.get("race")) scene.race = (query.get("race") ?? "").split(";").map((part) => racerOf(part, catalogue));
  return { scene, look: lookOf(Object.fromEntries(query)) };
}

/**
 * Return the look of a chapter, unless the address says otherwise.
 * @param {import("./types").Chapter} chapter
 * @param {Record<string, any>} [given]
 */
export function chapterLook(chapter, given = {}) {
  const { t = 0, view = "sphere", hide = [] } = chapter;
  return lookOf({ t, view, hide, ...given, chapter: chapter.number });
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
  look.speed = whole(given.speed, look.speed);
  if (["sphere", "slice", "plane"].includes(given.view)) look.view = given.view;
  const hide = Array.isArray(given.hide) ? given.hide : String(given.hide ?? "").split(",");
  look.hide = hide.filter((part) => PARTS.includes(part));
  if (given.theme === "light" || given.theme === "dark") look.theme = given.theme;
  look.projector = given.projector === true || given.projector === "true" || given.projector === "1";
  return look;
}
