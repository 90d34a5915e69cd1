// @ts-check
/** The layout: header, pattern space and weight space side by side, the narration below them, tabs with details. */
import { PARTS } from "./address.js";
import { menu } from "./controls.js";
import { button, classMark, make } from "./elements.js";
import { className, colourOf, isStraight } from "./frames.js";
import { SPACES } from "./weights.js";

const CLASSES = 4;
const TABS = ["Curves", "Trials", "Python", "Proof", "Tour", "Exercises"];

/**
 * Create a group of buttons, one of them pressed.
 * @param {string} label
 * @param {{name: string, face: Node | string, title: string}[]} options
 * @param {(name: string) => void} choose
 */
function switches(label, options, choose) {
  const buttons = options.map(({ name, face, title }) =>
    make(
      "button",
      { type: "button", title, "aria-label": typeof face === "string" ? null : title, onclick: () => choose(name) },
      face,
    ),
  );
  return {
    box: make("div", { class: "switches", role: "group", "aria-label": label }, ...buttons),
    /** @param {string} chosen */
    press(chosen) {
      for (const [i, one] of buttons.entries()) one.setAttribute("aria-pressed", String(options[i].name === chosen));
    },
  };
}

/**
 * Create tabs.
 * @param {string[]} names
 * @param {(name: string) => void} opened
 */
function createTabs(names, opened) {
  const stem = `tab-${Math.random().toString(36).slice(2, 8)}`;
  /** @type {Record<string, {tab: HTMLButtonElement, panel: HTMLElement}>} */
  const parts = {};
  for (const name of names) {
    const ids = { tab: `${stem}-${name}`, panel: `${stem}-${name}-panel` };
    const tab = make(
      "button",
      { type: "button", role: "tab", id: ids.tab, "aria-controls": ids.panel, onclick: () => open(name) },
      name,
    );
    const panel = make("div", {
      role: "tabpanel",
      tabindex: 0, // it may scroll
      id: ids.panel,
      "aria-labelledby": ids.tab,
      class: `tab ${name.toLowerCase()}`,
    });
    parts[name] = { tab, panel };
  }
  const list = make(
    "div",
    { role: "tablist", class: "tabs", "aria-label": "Details" },
    ...names.map((name) => parts[name].tab),
  );
  list.addEventListener("keydown", (event) => {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!way) return;
    const next = names[(names.indexOf(current) + way + names.length) % names.length];
    open(next);
    parts[next].tab.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  let current = names[0];
  /** @param {string} name */
  function open(name) {
    current = name;
    for (const [key, { tab, panel }] of Object.entries(parts)) {
      tab.setAttribute("aria-selected", String(key === name));
      tab.tabIndex = key === name ? 0 : -1;
      panel.hidden = key !== name;
    }
    opened(name);
  }
  return {
    list,
    panels: names.map((name) => parts[name].panel),
    panel: (/** @type {string} */ name) => parts[name].panel,
    open,
    current: () => current,
  };
}

/**
 * Build the layout.
 * @param {HTMLElement} root
 * @param {Record<string, (...values: any[]) => void>} acts  the handlers of the buttons
 * @param {boolean} editable
 */
export function buildFrame(root, acts, editable) {
  const boxes = make("div", { class: "boxes" });
  const own = button("Paste or open a table \u2026", "Your own points, from a CSV file or the clipboard", acts.paste);
  const line = button("Regression \u2026", "A line, or any curve, by Adaline", acts.regression);
  const settings = menu("Settings", "Data, parameters, features, seed", { "data-part": "settings" }, own, line);
  const race = menu("Race", "Several learners on one timeline", { "data-part": "race" });
  const share = menu("Share", "A link to this state (s)", { class: "menu right" });
  const exports = menu("Export", "Pictures, tables, Python (e)", { class: "menu right", "data-part": "export" });
  const prove = button("Prove it", "Is it separable? (c)", acts.prove, {
    "data-part": "prove",
    "aria-pressed": "false",
  });
  const asking = editable ? [boxes, settings.box, race.box] : [];
  const header = make(
    "header",
    { class: "bar" },
    make("h1", {}, "rosenblatt ", make("b", {}, "lab")),
    ...asking,
    make("span", { class: "spring" }),
    ...(editable ? [button("Tour", "Five chapters (t)", acts.tour, { "data-part": "tour" })] : []),
    prove,
    ...(editable ? [share.box] : []),
    exports.box,
    button("?", "Keys (?)", acts.help, { "aria-label": "Keys" }),
    button("theme", "Dark or light (d)", acts.theme),
  );

  const marks = Array.from({ length: CLASSES }, (_, k) => ({
    name: String(k),
    face: classMark(k),
    title: `Draw class ${k + 1} (${k + 1})`,
  }));
  const drawn = switches("Class to draw", marks, acts.chooseClass);
  const tools = make(
    "div",
    { class: "tools", "data-part": "edit" },
    drawn.box,
    button("undo", "Undo (z)", acts.undo),
    button("redo", "Redo (shift z)", acts.redo),
    button("flip", "Flip the selected point (f)", acts.flip),
    button("delete", "Remove the selected point (Delete)", acts.remove),
    button("clear", "Remove all points", acts.clear),
  );
  const pattern = panel("Pattern space", "pattern", editable ? [tools] : []);
  const zoom = make(
    "div",
    { class: "switches zoom", role: "group", "aria-label": "Zoom" },
    button("+", "Zoom in (ctrl and wheel)", () => acts.zoom(0.8), { "aria-label": "Zoom in" }),
    button("\u2212", "Zoom out (ctrl and wheel)", () => acts.zoom(1.25), { "aria-label": "Zoom out" }),
    button("fit", "Show all points (0); shift and drag moves the plane", () => acts.zoom(0)),
  );
  const legend = make("div", { class: "legend", role: "group", "aria-label": "Legend" });
  const probe = button("new x\u2032", "Try a new point: its score, class and distance (x)", acts.probe, {
    "aria-pressed": "false",
  });
  const test = button("test rows", "Fresh points of the same set, and their error", acts.test, {
    "aria-pressed": "false",
  });
  pattern.caption.before(make("div", { class: "foot" }, legend, zoom, probe, ...(editable ? [test] : [])));
  const spaces = switches(
    "Weight space as",
    SPACES.map((s) => ({ name: s.name, face: s.title, title: s.sentence ?? "" })),
    acts.chooseSpace,
  );
  const weights = panel("Weight space", "weights", [spaces.box]);
  const rivals = make("section", { class: "panel rivals", "aria-label": "The other racers", hidden: true });

  const narration = make("p", { class: "narration", "aria-hidden": "true" });
  const end = make("p", { class: "end" });
  const live = make("p", { class: "unseen", role: "status", "aria-live": "polite" });
  const predict = make("div", { class: "predict", hidden: true });
  const say = make("section", { class: "panel say", "aria-label": "What happened" }, narration, end, predict, live);

  const tabs = createTabs(editable ? TABS : TABS.slice(0, 2).concat("Proof"), acts.tab);
  const side = make("aside", { class: "panel side", "aria-label": "Details" }, tabs.list, ...tabs.panels);
  const main = make("main", {}, pattern.section, weights.section, rivals, say, side);
  const stage = make("div", { class: "frame" }, header, main);
  root.classList.add("lab");
  root.replaceChildren(stage);
  return {
    stage,
    header,
    main,
    legend,
    probe,
    test,
    boxes,
    settings,
    race,
    share,
    exports,
    prove,
    drawn,
    spaces,
    pattern,
    weights,
    rivals,
    narration,
    end,
    live,
    predict,
    tabs,
  };
}

/**
 * Return the legend of a run: its classes and the lines of its picture.
 * @param {import("./types").Run} run
 */
export function legendOf(run) {
  const classes = run.about.classes.map((_, k) => {
    const name = className(run, k).replace(/^-(?=\d)/, "\u2212");
    const signed = /^[+\u2212]\d/.test(name);
    const sign = run.about.classes.length > 2 || signed ? "" : `, y = ${k ? "+1" : "\u22121"}`;
    const kind = signed ? "y = " : /^\d+$/.test(name) ? "class " : "";
    return make("span", {}, classMark(colourOf(run, k)), kind + name + sign);
  });
  const lines = !isStraight(run) || run.d !== 2 ? [] : [["old", "before"]];
  if (isStraight(run) && run.mean) lines.push(["mean", "average"]);
  if (isStraight(run) && run.about.scene.learner === "VotedPerceptron") lines.push(["vote", "vote"]);
  return [...classes, ...lines.map(([kind, name]) => make("span", { class: `key line-${kind}` }, name))];
}

/**
 * @param {string} title
 * @param {string} kind
 * @param {Node[]} tools
 */
function panel(title, kind, tools) {
  const heading = make("h2", {}, title);
  const caption = make("p", { class: "caption" });
  const host = make("div", { class: "square" });
  const section = make(
    "section",
    { class: `panel ${kind}`, "aria-label": title },
    make("div", { class: "head" }, heading, ...tools),
    host,
    caption,
  );
  return { section, heading, host, caption };
}

/**
 * Hide the parts of the screen that a link leaves out.
 * @param {HTMLElement} root
 * @param {string[]} hide
 */
export function hideParts(root, hide) {
  for (const part of PARTS) {
    for (const node of root.querySelectorAll(`[data-part="${part}"]`))
      node.classList.toggle("gone", hide.includes(part));
  }
}
