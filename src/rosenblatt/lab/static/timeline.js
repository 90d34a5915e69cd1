// @ts-check
/** The timeline: a tick for each mistake, a notch for each epoch, and buttons to move along it. */
import { assign, button, choiceBox, counted, draw, icon, make } from "./elements.js";
import { countsRows } from "./frames.js";
import { SPEEDS } from "./player.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */

const LENGTH = 1000;

/**
 * Create the footer.
 * @param {{start: () => void, rewind: () => void, back: () => void, toggle: () => void, on: () => void,
 *   update: () => void, epoch: () => void, go: (t: number) => void, speed: (trials: number) => void}} acts
 */
export function timeline(acts) {
  const strip = draw("svg", {
    class: "strip",
    viewBox: `0 0 ${LENGTH} 14`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const notches = draw("path", { class: "notches" }, strip);
  const tickMarks = draw("path", { class: "ticks" }, strip);
  const lit = draw("path", { class: "ticks lit" }, strip);
  const slider = make("input", {
    type: "range",
    min: 0,
    max: 0,
    value: 0,
    step: 1,
    "aria-label": "Trial",
    oninput: () => acts.go(Number(slider.value)),
  });
  const count = make("output", { class: "count" });
  const play = button("play", "Play or pause (space)", acts.toggle, { class: "play" });
  const rewind = button("rewind", "Play backwards (r)", acts.rewind);
  const speeds = SPEEDS.map((s) => ({ name: String(s), title: `${s}/s` }));
  const speed = choiceBox("speed", speeds, "4", (value) => acts.speed(Number(value)));
  speed.classList.add("speed");
  const footer = make(
    "footer",
    { class: "bar" },
    make(
      "div",
      { class: "buttons", role: "group", "aria-label": "Time" },
      button("start", "To the start (Home)", acts.start),
      rewind,
      button("back", "One trial back (left arrow)", acts.back),
      play,
      button("on", "One trial on (right arrow)", acts.on),
      button("update", "To the next update (shift and right arrow)", acts.update),
      button("epoch", "To the end of the epoch (])", acts.epoch),
    ),
    make("div", { class: "time" }, strip, slider),
    count,
    speed,
  );
  /** @type {Run | null} */
  let run = null;
  let last = 0;

  /** @param {(t: number) => boolean} chosen */
  function ticksFor(chosen) {
    if (!run) return "";
    const parts = [];
    let before = -1;
    for (let t = 1; t <= run.trials; t++) {
      if (!chosen(t)) continue;
      const x = Math.round((t / last) * LENGTH * 10) / 10;
      if (x > before) parts.push(`M${x} 2V11`);
      before = x;
    }
    return parts.join("");
  }

  return {
    footer,
    /** @param {Run} next @param {number} end  the last trial of the longest run shown */
    load(next, end) {
      run = next;
      last = Math.max(1, end);
      slider.max = String(end);
      slider.disabled = end === 0;
      assign(tickMarks, { d: ticksFor((t) => (next.mistake[t - 1] & 1) !== 0) });
      const ends = next.about.epochs_end;
      const every = Math.ceil(ends.length / 250);
      assign(notches, {
        d: ends
          .filter((_, i) => i % every === 0)
          .map((t) => `M${(t / last) * LENGTH} 8V14`)
          .join(""),
      });
      assign(lit, { d: "" });
    },
    /** @param {Frame} frame @param {number} t */
    show(frame, t) {
      slider.value = String(t);
      const event = frame.mistake ? `, mistake on x${frame.row + 1}` : frame.row >= 0 ? `, x${frame.row + 1}` : "";
      slider.setAttribute("aria-valuetext", `trial ${t} of ${slider.max}, epoch ${frame.epoch}${event}`);
      const mistakes =
        run && !countsRows(run)
          ? counted(frame.mistakes, "epoch with a mistake", "epochs with a mistake")
          : counted(frame.mistakes, "mistake");
      const where = `trial ${t.toLocaleString("en")} of ${Number(slider.max).toLocaleString("en")}`;
      count.textContent = `${where} \u00b7 epoch ${frame.epoch} \u00b7 ${mistakes}`;
    },
    /** @param {number} way */
    playing(way) {
      play.replaceChildren(icon(way ? "pause" : "play"));
      play.setAttribute("aria-label", way ? "Pause (space)" : "Play (space)");
      rewind.classList.toggle("pressed", way < 0);
    },
    /** @param {number} trials */
    speed(trials) {
      /** @type {HTMLSelectElement} */ (speed.querySelector("select")).value = String(trials);
    },
    /** @param {number} row */
    hover(row) {
      const now = run;
      assign(lit, {
        d: row < 0 || !now ? "" : ticksFor((t) => now.row[t - 1] === row && (now.mistake[t - 1] & 1) !== 0),
      });
    },
    pulse: () => play.classList.add("pulse"),
  };
}
