// @ts-check
/** Who answers a question of the page: its own engine if it can, and otherwise Python, if there is one. */
import { pointsOfText } from "./csv.js";
import { featureMap } from "./features.js";
import { lacking, localRun, localVote } from "./local.js";
import { certifyPage } from "./prove.js";
import { pythonOf } from "./python.js";
import { checkedScene } from "./scene.js";

/** @typedef {import("./types").Ask} Ask */
/** @typedef {import("./types").Catalogue} Catalogue */

const INSTALL = 'pip install "rosenblatt[lab]", and then: rosenblatt lab';

/**
 * What the page answers itself: the answer, and what it lacks for a scene, empty if nothing.
 * @type {Record<string, Record<"answer" | "lacks", (scene: any, catalogue: Catalogue) => any>>}
 */
const IN_PAGE = {
  run: { answer: localRun, lacks: lacking },
  surface: { answer: localVote, lacks: lacking },
  code: { answer: pythonOf, lacks: lacking },
  certificate: { answer: certificateOf, lacks: unprovable },
};

/**
 * Return the certificate of the points of a scene with the rows that it is about.
 * @param {import("./types").Scene} scene
 * @param {Catalogue} catalogue
 * @returns {import("./types").Proof}
 */
function certificateOf(scene, catalogue) {
  const { X, labels, classes, features, units, seed } = checkedScene(scene, catalogue);
  const rows = X.map(featureMap(features, X, units, seed));
  const plane = features === "none" && X[0].length === 2;
  return { file: certifyPage(rows, labels), rows, labels: labels.map((label) => classes.indexOf(label)), plane };
}

/**
 * Return what the page lacks for a proof; empty if nothing.
 * @param {import("./types").Scene} scene
 * @param {Catalogue} catalogue
 */
function unprovable(scene, catalogue) {
  const { classes, features } = checkedScene(scene, catalogue);
  if (classes.length > 2) return "A proof about more than two classes";
  return features === "none" || features === "quadratic" ? "" : "A proof under this feature map";
}

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
    const missing = own ? own.lacks(body, catalogue) : "This";
    if (own && !missing) return own.answer(body, catalogue);
    if (python) return python(kind, body);
    if (kind === "table") return pointsOfText(/** @type {{text?: string}} */ (body).text ?? "", catalogue);
    throw new Error(`${missing} needs the installed lab. Run: ${INSTALL}.`);
  };
}
