// @ts-check
/** The tour: a chapter for each of the five lectures, with a question, steps, and predictions before some steps. */
import { button, make } from "./elements.js";

/** @typedef {import("./types").Chapter} Chapter */
/** @typedef {import("./types").ChapterStep} ChapterStep */

/**
 * Create the panel of the tour.
 * @param {Element} host
 * @param {Chapter[]} chapters
 * @param {{open: (chapter: Chapter) => void, step: (step: ChapterStep) => void, leave: () => void,
 *   predict: (step: ChapterStep | null, answered: () => void) => void}} acts
 */
export function tourPanel(host, chapters, acts) {
  const body = make("div", { class: "chapter" });
  host.append(body);
  let current = -1;
  let step = 0;
  let asked = false; // whether the step still waits for a prediction

  /** @param {Chapter} chapter */
  function text(chapter) {
    const steps = chapter.steps ?? [];
    const now = step ? steps[step - 1] : null;
    const sentences = asked
      ? ["Predict before you step: the answers are below the pictures."]
      : (now ?? chapter).sentences;
    /** @type {HTMLElement[]} */
    const nodes = [
      make("p", { class: "soft" }, `Chapter ${chapter.number} of ${chapters.length} \u00b7 ${chapter.lecture}`),
      make("h3", {}, chapter.title),
      make("p", { class: "question" }, chapter.question),
      ...sentences.map((sentence) => make("p", {}, sentence)),
    ];
    if (step === steps.length && !asked) {
      nodes.push(
        make("details", { class: "answer" }, make("summary", {}, "The answer"), make("p", {}, chapter.answer)),
      );
    }
    return nodes;
  }

  function show() {
    const chapter = chapters[current];
    if (!chapter) {
      const list = chapters.map((one, i) =>
        make(
          "li",
          {},
          button(one.title, one.lecture, () => open(i)),
        ),
      );
      const intro = "Five chapters, one for each lecture. Each has a question, and a run that shows the answer.";
      return body.replaceChildren(
        make("h3", {}, "The tour"),
        make("p", {}, intro),
        make("ol", { class: "chapters" }, ...list),
      );
    }
    const steps = chapter.steps ?? [];
    const inside = asked || step < steps.length;
    const last = !inside && current === chapters.length - 1;
    const count = make("span", { class: "soft" }, steps.length ? `${step} / ${steps.length}` : "");
    const back = button("Back", "Back", () => turn(-1), { disabled: current === 0 && step === 0 });
    const next = button(inside ? "Next" : "Next chapter", "Next", () => turn(1), { class: "primary", disabled: last });
    const all = button("Chapters", "All chapters", () => {
      current = -1;
      asked = false;
      acts.leave();
      show();
    });
    body.replaceChildren(...text(chapter), make("div", { class: "turn" }, back, next, count, all));
  }

  /** Show a step; ask for a prediction first if it has one. @param {boolean} ask */
  function enter(ask) {
    const now = (chapters[current].steps ?? [])[step - 1];
    asked = ask && Boolean(now.predict);
    if (asked) acts.predict(now, () => enter(false));
    else {
      acts.predict(null, () => {});
      acts.step(now);
    }
    show();
  }

  /** @param {number} way */
  function turn(way) {
    const steps = chapters[current].steps ?? [];
    if (way > 0 && asked) return enter(false);
    if (way > 0 && step >= steps.length) return open(current + 1);
    if (way < 0 && step === 0) return open(current - 1);
    step += way;
    if (step) enter(way > 0);
    else open(current);
  }

  /** @param {number} index */
  function open(index) {
    if (!chapters[index]) return;
    current = index;
    step = 0;
    asked = false;
    acts.predict(null, () => {});
    acts.open(chapters[index]);
    show();
  }

  show();
  return {
    open,
    turn,
    /** Show the text of a chapter whose scene is already shown. @param {number} number */
    resume(number) {
      current = chapters.findIndex((chapter) => chapter.number === number);
      step = 0;
      asked = false;
      show();
    },
  };
}
