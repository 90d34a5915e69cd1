// @ts-check
/** Who answers a question of the page: its own engine if it can, and otherwise Python, if there is one. */
import { pointsOfText } from "./csv.js";
import { lacking, localRun, localVote } from "./local.js";
import { pythonOf } from "./python.js";

/** @typedef {import("./types").Ask} Ask */
/** @typedef {import("./types").Catalogue} Catalogue */

const INSTALL = 'pip install "rosenblatt[lab]", and then: rosenblatt lab';

/** @type {Record<string, (body: any, catalogue: Catalogue) => any>} */
const IN_PAGE = {
  run: localRun,
  surface: localVote,
  code: pythonOf,
};

/**
 * Create the `ask` of a page.
 * @param {Catalogue} catalogue
 * @param {Ask | null} python  asks Python; null without one
 * @returns {Ask}
 */
export function createAsk(catalogue, python) {
  return async (kind, body = {}) => {
    if (kind === "catalogue") return catalogue;
    const scene = /** @type {any} */ (body);
    const missing = kind in IN_PAGE ? lacking(scene) : "";
    if (kind in IN_PAGE && !missing) return IN_PAGE[kind](scene, catalogue);
    if (python) return python(kind, body);
    if (kind === "table") return pointsOfText(scene.text ?? "", catalogue);
    throw new Error(`${missing || "This proof"} needs the installed lab. Run: ${INSTALL}.`);
  };
}
