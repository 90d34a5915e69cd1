// @ts-check
/** Dialogs: the list of keys, and a table to paste or to open. */
import { button, make } from "./elements.js";

const KEYS = [
  ["space", "play, pause"],
  ["r", "play backwards"],
  ["\u2190 \u2192", "one trial back, forward"],
  ["shift \u2190 \u2192", "previous, next update"],
  ["[ ]", "previous, next epoch"],
  ["Home, End", "to the start, to the end"],
  ["+ \u2212", "faster, slower"],
  ["click", "add a point of the chosen class"],
  ["1 2 3 4", "choose the class to draw"],
  ["drag", "move a point, the boundary, its arrow, or w itself"],
  ["shift click, f", "flip a point to the next class"],
  ["alt click, Delete", "remove a point"],
  ["Page Up, Page Down", "from point to point; arrows move it, Enter adds one"],
  ["z, shift z", "undo, redo"],
  ["x", "a new point to try: f(x), class, distance"],
  ["ctrl wheel, shift drag, 0", "zoom, move the plane, show all points"],
  ["v", "sphere, slice, plane without a bias"],
  ["c", "prove it: separable or not"],
  ["t", "the tour"],
  ["s", "share: a link to this state"],
  ["e", "export"],
  ["d", "dark or light"],
  ["p", "projector: large, without bars"],
  ["?", "this list"],
];

/**
 * Create a dialog.
 * @param {string} title
 * @param {...(Node | string)} children
 */
function createDialog(title, ...children) {
  const close = button("Close", "Close (Escape)", () => box.close());
  const box = make(
    "dialog",
    { "aria-label": title },
    make("h2", {}, title),
    ...children,
    make("p", { class: "turn" }, close),
  );
  return box;
}

/** Create the list of keys. */
export function helpDialog() {
  const lines = KEYS.map(([key, what]) => make("div", {}, make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)));
  return createDialog("Keys", make("dl", { class: "keys" }, ...lines));
}

/**
 * Create the dialog for the user's own data.
 * @param {(text: string) => Promise<string>} take  takes the text of a table, returns a description of it
 */
export function dataDialog(take) {
  const area = make("textarea", {
    rows: 10,
    cols: 48,
    spellcheck: "false",
    "aria-label": "A table",
    placeholder: "height,weight,class\n180,80,a\n165,55,b",
  });
  const said = make("p", { role: "status", class: "soft" });
  const file = make("input", {
    type: "file",
    accept: ".csv,.tsv,.txt,text/csv,text/plain",
    "aria-label": "Open a file",
  });
  const use = button(
    "Use these points",
    "Use these points",
    async () => {
      try {
        said.textContent = await take(area.value);
        box.close();
      } catch (error) {
        said.textContent = error instanceof Error ? error.message : String(error);
      }
    },
    { class: "primary" },
  );
  file.addEventListener("change", async () => {
    area.value = (await file.files?.[0]?.text()) ?? "";
  });
  const hint = make(
    "p",
    {},
    "Paste a table, or open a CSV file: columns of numbers, and the class last. A first line gives names.",
  );
  const box = createDialog("Your data", hint, area, make("p", {}, file), make("p", { class: "turn" }, use), said);
  return {
    box,
    /** @param {string} [text] */
    open(text = "") {
      if (text) area.value = text;
      said.textContent = "";
      box.showModal();
      area.focus();
    },
  };
}
