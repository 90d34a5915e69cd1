// @ts-check
/** The race: up to four learners or orders on the same points and one timeline. */
import { button, choiceBox, counted, make } from "./elements.js";
import { frameAt } from "./frames.js";
import { patternView } from "./pattern.js";
import { valueName, WORDS } from "./words.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Racer} Racer */
/** @typedef {import("./types").Catalogue} Catalogue */

export const MOST_RIVALS = 3;

/**
 * Return the name of a racer: its learner, its order, and its settings.
 * @param {Racer} racer
 * @param {Catalogue} catalogue
 */
export function racerName(racer, catalogue) {
  const learner = catalogue.learners.find((one) => one.name === racer.learner)?.title ?? racer.learner;
  const order = catalogue.orders.find((one) => one.name === racer.order)?.title ?? racer.order;
  return [
    learner,
    order,
    ...Object.entries(racer.params).map(([name, value]) => `${WORDS[name]?.title ?? name} ${valueName(value)}`),
  ].join(", ");
}

/**
 * Return how far a run is at a trial.
 * @param {Run} run
 * @param {number} t
 */
export function standing(run, t) {
  const made = counted(run.mistakes[Math.min(t, run.trials)], "mistake");
  return t >= run.ended ? `${made}, ended at trial ${run.ended.toLocaleString("en")}` : made;
}

/**
 * Create the panel of the rivals, with a picture for each.
 * @param {Element} host
 */
export function racePanel(host) {
  /** @type {{view: ReturnType<typeof patternView>, note: HTMLElement, run: Run}[]} */
  let lanes = [];
  return {
    /** @param {Run[]} runs @param {string[]} names */
    load(runs, names) {
      if (runs.length !== lanes.length) {
        host.replaceChildren();
        host.setAttribute("data-lanes", String(runs.length));
        lanes = runs.map((run, i) => {
          const [title, note] = [make("b", { class: `key racer r${i + 1}` }), make("span", { class: "soft" })];
          const lane = make(
            "section",
            { class: "lane", "aria-label": names[i] },
            make("p", { class: "lane-name" }, title, note),
          );
          host.append(lane);
          return { view: patternView(lane, null, `Pattern space of ${names[i]}`), note, run };
        });
      }
      lanes.forEach((lane, i) => {
        lane.run = runs[i];
        const title = lane.note.previousElementSibling;
        if (title) title.textContent = `${i + 2}  ${names[i]}`;
        lane.view.load(runs[i]);
      });
    },
    /** @param {number} t @param {boolean} ease */
    show(t, ease) {
      for (const { view, note, run } of lanes) {
        view.show(frameAt(run, Math.min(t, run.trials)), ease && t <= run.trials);
        note.textContent = standing(run, t);
      }
    },
    pictures: () => lanes.map((lane) => lane.view.svg),
  };
}

/**
 * Create the panel to choose racers.
 * @param {Element} host
 * @param {Catalogue} catalogue
 * @param {(race: Racer[]) => void} change
 */
export function raceMenu(host, catalogue, change) {
  const chosen = { learner: "AveragedPerceptron", order: "cyclic" };
  return {
    /** @param {Scene} scene */
    show(scene) {
      const own = { learner: scene.learner, params: scene.params, order: scene.order };
      const lines = scene.race.map((racer, i) => {
        const drop = () => change(scene.race.filter((_, k) => k !== i));
        return make("li", {}, `${i + 2}  ${racerName(racer, catalogue)} `, button("Remove", "Remove this racer", drop));
      });
      const able = catalogue.learners.filter((one) => one.trials);
      const learner = choiceBox("learner", able, chosen.learner, (name) => {
        chosen.learner = name;
      });
      const order = choiceBox("order", catalogue.orders, chosen.order, (name) => {
        chosen.order = name;
      });
      const add = () => change([...scene.race, { ...chosen, params: {} }]);
      host.replaceChildren(
        make("p", { class: "soft" }, "The same points, several learners or orders, one line of time."),
        make("ol", { class: "racers" }, make("li", {}, `1  ${racerName(own, catalogue)}`), ...lines),
        learner,
        order,
        button("Add to the race", "Add", add, { class: "primary", disabled: scene.race.length >= MOST_RIVALS }),
      );
    },
  };
}
