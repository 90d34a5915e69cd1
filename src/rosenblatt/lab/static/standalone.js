// @ts-check
/** The lab as one HTML file, which needs neither Python nor a network. */
import { mount } from "./lab.js";
import { createAsk } from "./questions.js";

/** @typedef {import("./types").Catalogue} Catalogue */

/** JSON in which no text can end a script element. @param {any} value */
const insideScript = (value) => JSON.stringify(value).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);

/**
 * Open the lab.
 * @param {HTMLElement} root
 * @param {string} source  the file's own text, to save it with another scene
 * @param {Catalogue} catalogue
 * @param {object} scene  the scene to start with, and how to look at it; an address may say otherwise
 */
export async function openStandalone(root, source, catalogue, scene) {
  const answer = createAsk(catalogue, null);
  const saved = (/** @type {object} */ state) =>
    source.replace(
      /(<script type="application\/json" id="scene">).*?(<\/script>)/s,
      (_, before, after) => before + insideScript(state) + after,
    );
  const ask = async (/** @type {string} */ kind, /** @type {object} */ body = {}) =>
    kind === "page" ? saved(body) : answer(kind, body);
  const lab = await mount(root, ask, { catalogue, scene, editable: true, address: true });
  Object.assign(root, { lab });
}
