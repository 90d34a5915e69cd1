// @ts-check
/** The lab in a notebook: what the page's engine lacks, the kernel of the notebook answers by messages. */
import { mount } from "./lab.js";
import { createAsk } from "./questions.js";

/**
 * Ask the kernel.
 * @param {any} model  of anywidget
 * @returns {import("./types").Ask}
 */
function labAsk(model) {
  /** @type {Map<number, { resolve: (answer: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let number = 0;
  model.on("msg:custom", (/** @type {any} */ message, /** @type {any[]} */ buffers) => {
    const entry = waiting.get(message.id);
    if (!entry) return;
    waiting.delete(message.id);
    if (message.error) return entry.reject(new Error(message.error));
    if (!message.bytes) return entry.resolve(message.answer);
    const view = buffers[0];
    const bytes = view.buffer ? view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) : view;
    entry.resolve(bytes);
  });
  return (kind, body = {}) =>
    new Promise((resolve, reject) => {
      waiting.set(++number, { resolve, reject });
      model.send({ id: number, kind, body });
    });
}

/** What anywidget renders; page.py exports it. */
export const widget = {
  /** @param {{ model: any, el: HTMLElement }} view */
  async render({ model, el }) {
    const root = el.appendChild(document.createElement("div"));
    root.className = "rosenblatt-lab";
    const options = { ...model.get("_options"), scene: model.get("scene"), t: model.get("trial") };
    /** @type {any} */
    const lab = await mount(root, createAsk(options.catalogue, labAsk(model)), options);
    let sending = false; // changes of the page must not come back to it
    lab?.watch?.((/** @type {{ scene: object, t: number }} */ { scene, t }) => {
      sending = true;
      model.set("scene", scene);
      model.set("trial", t);
      sending = false;
      model.save_changes();
    });
    const listeners = [
      ["scene", "scene"],
      ["trial", "t"],
    ].map(([trait, key]) => ({
      event: `change:${trait}`,
      listener: () => sending || lab?.show?.({ [key]: model.get(trait) }),
    }));
    for (const { event, listener } of listeners) model.on(event, listener);
    root.dataset.ready = "1";
    return () => {
      for (const { event, listener } of listeners) model.off(event, listener);
    };
  },
};
