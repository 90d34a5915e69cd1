// @ts-check
/** The page of `rosenblatt lab`: what its own engine lacks, a server on this machine answers. */
import { mount } from "./lab.js";
import { createAsk } from "./questions.js";

/**
 * Ask Python.
 * @param {string} kind
 * @param {object} [body]
 */
async function askServer(kind, body = {}) {
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

async function open() {
  const catalogue = await askServer("catalogue");
  const lab = await mount(root, createAsk(catalogue, askServer), { catalogue, editable: true, address: true });
  Object.assign(root, { lab });
}

open().catch((error) => {
  root.textContent = error.message;
});
