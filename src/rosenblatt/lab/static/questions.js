// @ts-check
/** Who answers a question of the page: its own engine if it can, and otherwise Python, if there is one. */
import { pointsOfText } from "./csv.js";
import { lacking, localRun, localVote } from "./local.js";
import { pythonOf } from "./python.js";

/** @typedef {import("./types").Ask} Ask */
/** @typedef {import("./types").Catalogue} Catalogue */

const INSTALL = 'pip install "rosenblatt[lab]", and then: rosenblatt lab';

/**
 * What the page answers itself: the answer, and what it lacks for a scene, empty if nothing.
 * @type {Record<string, {answer: (scene: any, catalogue: Catalogue) => any, lacks: (scene: any) => string}>}
 */
const IN_PAGE = {
  run: { answer: localRun, lacks: lacking },
  surface: { answer: localVote, lacks: lacking },
  code: { answer: pythonOf, lacks: lacking },
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
    const own = IN_PAGE[kind];
    const missing = own ? own.lacks(body) : "A proof";
    if (own && !missing) return own.answer(body, catalogue);
    if (python) return python(kind, body);
    if (kind === "table") return pointsOfText(/** @type {{text?: string}} */ (body).text ?? "", catalogue);
    throw new Error(`${missing} needs the installed lab. Run: ${INSTALL}.`);
  };
}
