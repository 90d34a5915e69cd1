// @ts-check
/** A run as one HTML file, without the engine: what can be asked is in the file. */
import { mount } from "./lab.js";

async function openRun() {
  const root = /** @type {HTMLElement} */ (document.querySelector("#lab"));
  const options = JSON.parse(document.querySelector("#scene")?.textContent ?? "");
  const bytes = window.rosenblatt.data;
  const ask = async (/** @type {string} */ kind) => {
    if (kind === "run") return bytes.slice(0);
    if (kind in options.answers) return options.answers[kind];
    throw new Error("This page was saved without the engine, so it cannot compute anything new.");
  };
  await mount(root, ask, { ...options, bytes });
  document.documentElement.dataset.ready = "1";
}

openRun();
