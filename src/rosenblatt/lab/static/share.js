// @ts-check
/** Sharing: a link to the state of the lab, which may hide controls. */
import { PARTS } from "./address.js";
import { button, make } from "./elements.js";

/**
 * Fill the panel.
 * @param {Element} host
 * @param {(hide: string[]) => string} link
 */
export function sharePanel(host, link) {
  /** @type {Set<string>} */
  const hidden = new Set();
  const field = make("input", { type: "text", readonly: true, "aria-label": "Link", onfocus: () => field.select() });
  const said = make("span", { role: "status", class: "soft" });
  const refresh = () => {
    field.value = link([...hidden]);
    said.textContent = "";
  };
  const copy = button("Copy", "Copy the link", async () => {
    refresh();
    field.select();
    await navigator.clipboard?.writeText(field.value).then(
      () => {
        said.textContent = "Copied.";
      },
      () => {
        said.textContent = "Press ctrl c.";
      },
    );
  });
  const boxes = PARTS.map((part) => {
    const box = make("input", {
      type: "checkbox",
      onchange: () => {
        if (box.checked) hidden.add(part);
        else hidden.delete(part);
        refresh();
      },
    });
    return make("label", {}, box, part);
  });
  host.append(
    make(
      "p",
      { class: "soft" },
      "This link opens the same points, learner and trial; its part from # on does so in every lab.",
    ),
    make("p", { class: "turn" }, field, copy, said),
    make("fieldset", {}, make("legend", {}, "Hide in the shared lab"), make("div", { class: "checks" }, ...boxes)),
  );
  return { refresh };
}
