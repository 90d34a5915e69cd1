// @ts-check
/** The page of `rosenblatt lab`: the engine is a server on this machine. */
import { mount } from "./lab.js";

/**
 * Ask the engine.
 * @param {string} kind
 * @param {object} [body]
 */
async function ask(kind, body = {}) {
  const question = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(kind, kind === "catalogue" ? {} : question).catch(() => {
    throw new Error("The lab's server does not answer. Start it again with: rosenblatt lab");
  });
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok) {
    const message = type.startsWith("application/json") ? (await response.json()).error : await response.text();
    throw new Error(message || `The lab's server answered with status ${response.status}.`);
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
