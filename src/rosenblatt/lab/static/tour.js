// @ts-check
/** The tour: five chapters, one for each lecture; a question each, steps, and predictions before a step. */
import { button, make } from "./elements.js";

/** @typedef {import("./types").Chapter} Chapter */
/** @typedef {import("./types").ChapterStep} ChapterStep */

/**
 * Make the panel of the tour.
 * @param {Element} host
 * @param {Chapter[]} chapters
 * @param {{open: (chapter: Chapter) => void, step: (step: ChapterStep) => void, predict: (on: boolean) => void,
 *   leave: () => void}} acts
 */
export function tourPanel(host, chapters, acts) {
  const body = make("div", { class: "chapter" });
  host.append(body);
  let current = -1;
  let step = 0;

  /** @param {Chapter} chapter */
  function text(chapter) {
    const steps = chapter.steps ?? [];
    const now = step ? steps[step - 1] : null;
    const sentences = now ? now.sentences : chapter.sentences;
    /** @type {HTMLElement[]} */
    const nodes = [
      make("p", { class: "soft" }, `Chapter ${chapter.number} of ${chapters.length} \u00b7 ${chapter.lecture}`),
      make("h3", {}, chapter.title),
      make("p", { class: "question" }, chapter.question),
      ...sentences.map((sentence) => make("p", {}, sentence)),
    ];
    if (now?.predict)
      nodes.push(make("p", { class: "soft" }, "Predict before you step: the answers are under the picture."));
    if (step === steps.length) {
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
      const intro = make(
        "p",
        {},
        "Five chapters, one for each lecture. Each has a question, and a run to find the answer in.",
      );
      return body.replaceChildren(make("h3", {}, "The tour"), intro, make("ol", { class: "chapters" }, ...list));
    }
    const steps = chapter.steps ?? [];
    const count = make("span", { class: "soft" }, steps.length ? `${step} / ${steps.length}` : "");
    const back = button("Back", "Back", () => turn(-1), { disabled: current === 0 && step === 0 });
    const last = current === chapters.length - 1 && step === steps.length;
    const next = button(step < steps.length ? "Next" : "Next chapter", "Next", () => turn(1), {
      class: "primary",
      disabled: last,
    });
    const all = button("Chapters", "All chapters", () => {
      current = -1;
      acts.leave();
      show();
    });
    body.replaceChildren(...text(chapter), make("div", { class: "turn" }, back, next, count, all));
  }

  /** @param {number} way */
  function turn(way) {
    const steps = chapters[current].steps ?? [];
    if (way > 0 && step >= steps.length) return open(current + 1);
    if (way < 0 && step === 0) return open(current - 1);
    step += way;
    if (step) {
      acts.step(steps[step - 1]);
      acts.predict(Boolean(steps[step - 1].predict));
    } else open(current);
    show();
  }

  /** @param {number} index */
  function open(index) {
    if (!chapters[index]) return;
    current = index;
    step = 0;
    acts.predict(false);
    acts.open(chapters[index]);
    show();
  }

  show();
  return {
    open,
    turn,
    /** Show the text of a chapter whose scene is there already. @param {number} number */
    resume(number) {
      current = chapters.findIndex((chapter) => chapter.number === number);
      step = 0;
      show();
    },
  };
}
