// @ts-check
/** The page that `rosenblatt lab` opens: the engine is a server on this machine, reached by fetch. */
import { mount } from "./lab.js";

/**
 * Ask the engine.
 * @param {string} kind
 * @param {object} [body]
 */
async function ask(kind, body = {}) {
  const question = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(kind, kind === "catalogue" ? {} : question).catch(() => {
    throw new Error("The lab's server does not answer. Start it again: rosenblatt lab.");
  });
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok) {
    const told = type.startsWith("application/json") ? (await response.json()).sentence : await response.text();
    throw new Error(told || `The lab's server answered ${response.status}.`);
  }
  if (type.startsWith("application/json")) return response.json();
  return type.startsWith("text/") ? response.text() : response.arrayBuffer();
}

const root = /** @type {HTMLElement} */ (document.querySelector("#lab"));
mount(root, ask, { editable: true, address: true }).then(
  (lab) => Object.assign(root, { lab }),
  (error) => {
    root.textContent = error.message;
  },
);
