// @ts-check
/** Predictions before a step: the next point is ringed, and the trial waits for the user's answer. */
import { button, make } from "./elements.js";

/** @typedef {import("./types").Run} Run */

/**
 * Create the panel that asks for predictions.
 * @param {HTMLElement} host
 * @param {{run: () => Run, at: () => number, walk: (t: number) => void, expect: (row: number) => void,
 *   judge: (verdict: string) => void}} lab
 */
export function createPrediction(host, lab) {
  /** @type {{t: number, answered: () => void} | null} */
  let asked = null;

  /** @param {{t: number, answered: () => void}} question @param {boolean} mistake */
  function answer(question, mistake) {
    const right = ((lab.run().mistake[question.t - 1] & 1) !== 0) === mistake;
    asked = null;
    question.answered();
    lab.judge(right ? "You were right. " : "You were wrong. ");
  }

  return {
    /** Return whether the trial after t waits for an answer. @param {number} t */
    waits: (t) => asked !== null && asked.t === t + 1,

    /**
     * Go to the trial before t, and ask for a prediction of trial t; with 0, stop asking.
     * @param {number} t
     * @param {() => void} answered
     */
    ask(t, answered) {
      asked = t ? { t, answered } : null;
      host.hidden = true;
      lab.expect(-1);
      if (asked) lab.walk(t - 1);
    },

    /** Offer the answers, if the next trial is the one to predict. */
    offer() {
      const question = asked;
      if (!question) return;
      const run = lab.run();
      const here = lab.at() === question.t - 1 && question.t <= run.trials;
      const row = here ? run.row[question.t - 1] : -1;
      lab.expect(row);
      host.hidden = row < 0;
      host.replaceChildren(
        make("span", {}, `x${row + 1} comes next. Will it be`),
        button("on its side", "on its side", () => answer(question, false)),
        button("a mistake", "a mistake", () => answer(question, true)),
      );
    },
  };
}
