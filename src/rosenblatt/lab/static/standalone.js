// @ts-check
/** The lab as one HTML file, which needs neither Python nor a network. */
import { defaultScene } from "./address.js";
import { mount } from "./lab.js";
import { lacking } from "./local.js";
import { createAsk } from "./questions.js";

/** @typedef {import("./types").Catalogue} Catalogue */

/** JSON in which no text can end a script element. @param {any} value */
const insideScript = (value) => JSON.stringify(value).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);

/**
 * Return a catalogue that says which learners the page itself lacks.
 * @param {Catalogue} catalogue
 * @returns {Catalogue}
 */
function withNotes(catalogue) {
  const noted = catalogue.learners.map((one) =>
    lacking({ ...defaultScene(), learner: one.name }) ? { ...one, title: `${one.title} (installed lab)` } : one,
  );
  return { ...catalogue, learners: noted };
}

/**
 * Open the lab.
 * @param {HTMLElement} root
 * @param {string} source  the file's own text, to save it with another scene
 * @param {Catalogue} catalogue
 * @param {object} scene  the scene to start with, and how to look at it; an address may say otherwise
 */
async function openStandalone(root, source, catalogue, scene) {
  const answer = createAsk(catalogue, null);
  const saved = (/** @type {object} */ state) =>
    source.replace(
      /(<script type="application\/json" id="scene">).*?(<\/script>)/s,
      (_, before, after) => before + insideScript(state) + after,
    );
  const ask = async (/** @type {string} */ kind, /** @type {object} */ body = {}) =>
    kind === "page" ? saved(body) : answer(kind, body);
  const lab = await mount(root, ask, { catalogue: withNotes(catalogue), scene, editable: true, address: true });
  Object.assign(root, { lab });
}

async function openSaved() {
  const { source, data } = window.rosenblatt;
  const scene = JSON.parse(document.querySelector("#scene")?.textContent ?? "");
  const catalogue = JSON.parse(new TextDecoder().decode(data));
  await openStandalone(/** @type {HTMLElement} */ (document.querySelector("#lab")), source, catalogue, scene);
  document.documentElement.dataset.ready = "1";
}

openSaved();
