// @ts-check
/** The lab: creates the views in an element, asks for runs, and steps through their trials. */
import { readCertificate } from "./certificate.js";
import { defaultScene, fromAddress, lookOf, toAddress } from "./address.js";
import { chartsView } from "./chart.js";
import { sceneControls } from "./controls.js";
import { dataDialog, helpDialog } from "./dialogs.js";
import { createEditor, pointsOf } from "./editor.js";
import { button, make } from "./elements.js";
import { exercisePanel } from "./exercises.js";
import { exportEntries } from "./exports.js";
import { frameAt, isStraight, readArrays, readRun, weightsOf } from "./frames.js";
import { bindKeys } from "./keys.js";
import { buildFrame, hideParts, legendOf } from "./layout.js";
import { describe, describeEnd, plain, typeset } from "./narrate.js";
import { patternView } from "./pattern.js";
import { createPlayer, nextEpoch, nextUpdate, SPEEDS } from "./player.js";
import { createPrediction } from "./prediction.js";
import { proofText } from "./proof.js";
import { raceMenu, racePanel, racerName, standing } from "./race.js";
import { regressionDialog } from "./regression.js";
import { createRequests } from "./requests.js";
import { sharePanel } from "./share.js";
import { createStore } from "./store.js";
import { trialsLog, weightsTable } from "./table.js";
import { timeline } from "./timeline.js";
import { tourPanel } from "./tour.js";
import { SPACES, weightView } from "./weights.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").Ask} Ask */
/** @typedef {import("./types").Catalogue} Catalogue */
/** @typedef {import("./types").Certificate} Certificate */
/** @typedef {import("./types").Options} Options */

const REST_MS = 200; // without a change, before the address and the code are updated
const EASING_SPEED = 8; // trials per second, above which motion is not eased
const LONGEST_LINK = 30_000; // characters; more points than that belong in a file

const TEST_SEED = 5000; // added to the seed of the points, for test rows
// Points without names of their own, from no set.
const OWN_POINTS = { data: "points", names: undefined, labels: undefined, start: null };
const DATA_KEYS = ["data", "n", "margin", "noise", "data_seed"];

/**
 * Create a lab in an element.
 * @param {HTMLElement} root
 * @param {Ask} ask  sends a question to the engine
 * @param {Options} [options]
 */
export async function mount(root, ask, options = {}) {
  const editable = options.editable !== false;
  const catalogue = options.catalogue ?? (await ask("catalogue"));
  const lab = createLab(root, ask, options, catalogue, editable);
  await lab.begin();
  return lab.handle;
}

/**
 * @param {HTMLElement} root
 * @param {Ask} ask
 * @param {Options} options
 * @param {Catalogue} catalogue
 * @param {boolean} editable
 */
function createLab(root, ask, options, catalogue, editable) {
  const addressed = options.address && (location.hash.length > 1 || !options.scene);
  const given = addressed ? fromAddress(location.hash, catalogue) : null;
  const first = given?.scene ?? { ...defaultScene(), ...options.scene };
  /** @type {Look} */
  let look = given?.look ?? lookOf({ ...options.scene, t: options.t ?? options.scene?.t });
  /** @type {Run[]} */
  let runs = []; // of the scene itself, and of its rivals
  /** @type {Certificate | null} */
  let certificate = options.certificate ? readCertificate(options.certificate) : null;
  let proving = false;
  let drawnClass = 1;
  let refit = true;
  let framed = ""; // the set that the plane fits
  let probing = false;
  let testing = false;
  let tested = ""; // the set that the test rows are of
  let rest = 0;
  let note = given?.note ?? ""; // on the address, until it is shown
  /** @type {((state: {scene: Scene, t: number}) => void)[]} */
  const watchers = [];

  // ------------------------------------------------------------------------------------------------- the screen

  const acts = {
    prove: () => prove(!proving),
    tour: () => openTour(),
    help: () => help.showModal(),
    theme: switchTheme,
    chooseClass: (/** @type {string} */ k) => chooseClass(Number(k)),
    chooseSpace,
    undo: () => store.undo(),
    redo: () => store.redo(),
    flip: () => editor.flip(pattern.selected()),
    remove: () => editor.remove(pattern.selected()),
    clear: () => store.change({ ...OWN_POINTS, points: [] }),
    zoom: (/** @type {number} */ factor) => pattern.zoom(factor),
    probe: switchProbe,
    test: switchTest,
    paste: () => table.open(),
    regression: () => regression.showModal(),
    tab: (/** @type {string} */ name) => openedTab(name),
  };
  const frame = buildFrame(root, acts, editable);
  const store = createStore(first, sceneChanged);
  const now = {
    points: () => (store.scene.data === "points" ? (store.scene.points ?? []) : runs[0] ? pointsOf(runs[0]) : []),
    classes: () => Math.max(2, new Set(now.points().map((p) => p[2])).size, drawnClass + 1),
    drawn: () => drawnClass,
    weights: () =>
      Array.from(
        runs[0] ? weightsOf(runs[0], look.t ? runs[0].at[Math.min(look.t, runs[0].trials) - 1] : 0) : [0, 0, 0],
      ),
    hover,
    can,
  };
  const editor = createEditor(store, now);
  const pattern = patternView(frame.pattern.host, editable ? editor : null);
  const weights = weightView(frame.weights.host, editable ? editor : null, (title, choice) => {
    frame.weights.heading.textContent = title;
    frame.spaces.box.classList.toggle("gone", !choice);
  });
  const charts = chartsView(frame.tabs.panel("Curves"));
  const numbers = weightsTable(frame.tabs.panel("Curves"));
  const log = trialsLog(frame.tabs.panel("Trials"), (t) => go(t));
  const rivals = racePanel(frame.rivals);
  const time = timeline({
    start: () => walk(0),
    rewind: () => (player.way < 0 ? player.pause() : player.play(-1)),
    back: () => walk(look.t - 1),
    toggle: () => player.toggle(),
    on: stepOn,
    update: () => walk(jump(look.t, 1)),
    epoch: () => walk(toEpoch(1)),
    go: (t) => go(t),
    speed: setSpeed,
  });
  frame.stage.append(time.footer);
  const player = createPlayer({
    at: () => look.t,
    last,
    go: (t) => go(t, player.speed <= EASING_SPEED),
    jump,
    changed: playing,
  });
  const controls = sceneControls(catalogue, (change, group) => store.change(change, group));
  const help = helpDialog();
  const table = dataDialog(takeTable);
  const regression = regressionDialog();
  root.append(help, table.box, regression);
  const code = make("pre", { tabindex: 0, class: "code" });
  const choice = raceMenu(frame.race.panel, catalogue, (race) => store.change({ race }));
  const share = sharePanel(frame.share.panel, (hide) => `${location.href.split("#")[0]}#${address({ ...look, hide })}`);
  const requests = createRequests(ask, {
    take,
    failed: complain,
    late: () =>
      frame.narration.replaceChildren("Learning \u2026 (the first run of a learner is compiled, for some seconds)"),
    rested: () => (proving ? prove(true) : undefined),
  });
  const prediction = createPrediction(frame.predict, {
    run: () => runs[0],
    at: () => look.t,
    walk,
    expect: (row) => pattern.expect(row),
    judge,
  });
  const tour = editable
    ? tourPanel(frame.tabs.panel("Tour"), catalogue.chapters, {
        open: openChapter,
        step: (step) => walk(step.t),
        predict: (step, answered) => prediction.ask(step?.t ?? 0, answered),
        leave: leaveTour,
      })
    : null;
  const exercises = editable
    ? exercisePanel(frame.tabs.panel("Exercises"), catalogue.exercises ?? [], {
        ask,
        run: async (text) => readRun(await ask("run", fromAddress(text, catalogue).scene)),
        open: openExercise,
        share: () => frame.share.box.toggleAttribute("open", true),
      })
    : null;

  // ------------------------------------------------------------------------------------------------- time

  /** The last trial of the longest run. */
  function last() {
    return Math.max(0, ...runs.map((run) => run.trials));
  }

  /** @param {number} t @param {number} way */
  function jump(t, way) {
    if (!runs[0]) return t;
    return nextUpdate(runs[0], Math.min(t, runs[0].trials), way);
  }

  /** @param {number} way */
  function toEpoch(way) {
    return runs[0] ? nextEpoch(runs[0], look.t, way) : look.t;
  }

  /** Go to a trial by hand, which stops playing. @param {number} t */
  function walk(t) {
    player.pause();
    go(t, t === look.t + 1);
  }

  function stepOn() {
    if (prediction.waits(look.t)) return;
    walk(look.t + 1);
  }

  /** @param {number} trials */
  function setSpeed(trials) {
    player.speed = trials;
    look.speed = player.speed;
    time.speed(player.speed);
    atRest();
  }

  /** @param {number} way */
  function playing(way) {
    time.playing(way);
    if (!way) announce();
  }

  /**
   * Show a trial.
   * @param {number} t
   * @param {boolean} [ease]
   */
  function go(t, ease = false) {
    const run = runs[0];
    if (!run) return;
    look.t = Math.max(0, Math.min(last(), t));
    const shown = frameAt(run, Math.min(look.t, run.trials));
    pattern.show(shown, ease);
    if (runs.length === 1) weights.show(shown, ease);
    charts.show(shown);
    numbers.show(shown);
    log.show(shown);
    rivals.show(look.t, ease);
    time.show(shown, look.t);
    frame.pattern.caption.textContent = runs.length > 1 ? standing(run, look.t) : pattern.text(shown);
    frame.weights.caption.textContent = weights.text(shown);
    frame.narration.replaceChildren(...typeset(describe(run, shown)));
    frame.narration.classList.toggle("wrong", shown.mistake);
    frame.end.textContent = describeEnd(run, shown);
    prediction.offer();
    if (!player.way) announce();
    atRest();
  }

  /** Pass the narration to a screen reader; not while playing. */
  function announce() {
    const run = runs[0];
    if (!run) return;
    const shown = frameAt(run, Math.min(look.t, run.trials));
    frame.live.textContent = plain(`${describe(run, shown)} ${describeEnd(run, shown)}`);
  }

  /** @param {string} verdict  on a prediction, or a note on the address */
  function judge(verdict) {
    frame.end.textContent = `${verdict}${frame.end.textContent}`;
    frame.live.textContent = `${verdict}${frame.live.textContent}`;
  }

  /** Update the address, and everything else that may wait until nothing moves. */
  function atRest() {
    clearTimeout(rest);
    rest = window.setTimeout(() => {
      if (options.address) {
        const text = address(look);
        if (text.length < LONGEST_LINK) history.replaceState(null, "", `#${text}`);
      }
      for (const notify of watchers) notify({ scene: store.scene, t: look.t });
      if (frame.tabs.current() === "Python") showCode();
      if (store.scene.learner === "VotedPerceptron" && !player.way && !requests.busy) showVote();
      share.refresh();
    }, REST_MS);
  }

  /** @param {Look} seen */
  function address(seen) {
    return toAddress(store.scene, seen, catalogue);
  }

  // ------------------------------------------------------------------------------------------------- runs

  /** @param {Scene} scene @param {string} group */
  function sceneChanged(scene, group) {
    if (group !== "drag" && group !== "start") refit = true;
    if (group === "start") look.t = 0;
    if (!group || group === "travel") player.pause();
    controls.show(scene, group === "travel" || group === "replace");
    hideParts(root, look.hide);
    choice.show(scene);
    if (scene.data === "points") pattern.place(scene.points ?? []);
    certificate = null;
    pattern.prove(null);
    if (isSparse(scene)) waitForPoints(scene.points ?? []);
    else requests.request(scene);
  }

  /** Return whether a scene has too few points to learn from. @param {Scene} scene */
  function isSparse(scene) {
    const points = scene.points ?? [];
    const sound = points.every((p) => p.every(Number.isFinite) && Number(p.at(-1)) >= 0); // the engine rejects others
    return scene.data === "points" && sound && new Set(points.map((p) => p.at(-1))).size < 2;
  }

  /** Show points that cannot be learned from yet, and say what to do. @param {number[][]} points */
  function waitForPoints(points) {
    player.pause();
    runs = [];
    look.t = 0;
    pattern.clear(points);
    root.classList.add("empty");
    root.classList.remove("failed");
    frame.rivals.hidden = true;
    for (const caption of [frame.pattern.caption, frame.weights.caption]) caption.textContent = "";
    frame.end.textContent = note;
    note = "";
    frame.legend.replaceChildren();
    const sentence = points.length
      ? "All points are of one class. Choose another mark above the plane, and click."
      : "Click into the plane: one point of each class.";
    frame.narration.replaceChildren(sentence);
    frame.live.textContent = sentence;
    root.dataset.ready = "true";
  }

  /** @param {Run[]} next @param {Scene} scene @param {Scene | null} [newest]  requested meanwhile */
  function take(next, scene, newest = null) {
    if (isSparse(store.scene)) return; // all points were removed meanwhile
    runs = next;
    const run = next[0];
    for (const one of next) nameRun(one, scene);
    const names = scene.race.map((racer) => racerName(racer, catalogue));
    const racing = next.length > 1;
    root.classList.remove("failed", "empty");
    root.classList.toggle("racing", racing);
    frame.rivals.hidden = !racing;
    frame.pattern.heading.textContent = racing
      ? `1  ${racerName(scene, catalogue)}`
      : run.d === 2
        ? "Pattern space"
        : "Rows";
    frame.legend.replaceChildren(...legendOf(run));
    root.classList.toggle("table", run.d !== 2);
    frame.weights.section.hidden = racing;
    pattern.load(run, refit && (dataKey(scene) !== framed || scene.data === "points"));
    framed = dataKey(scene);
    if (testing) showTest(scene);
    if (!racing) weights.load(run, refit);
    charts.load(run, next.slice(1));
    numbers.load(run);
    log.load(run);
    rivals.load(next.slice(1), names);
    time.load(run, last());
    refit = false;
    go(look.t);
    if (look.exercise) exercises?.check(scene, run);
    if (note) judge(note);
    note = "";
    root.dataset.ready = "true";
    if (newest?.data === "points") pattern.place(newest.points ?? []);
  }

  /** Give a run the names of columns and classes that came with its points. @param {Run} run @param {Scene} scene */
  function nameRun(run, scene) {
    if (scene.data !== "points") return;
    if (scene.names?.length === run.d) {
      run.about.names = scene.names;
      if (run.about.columns?.length === run.d) run.about.columns = scene.names;
    }
    if (scene.labels) run.about.labels = scene.labels;
  }

  /** @param {Scene} scene */
  function dataKey(scene) {
    return DATA_KEYS.map((key) => scene[key]).join();
  }

  function switchProbe() {
    probing = !probing;
    frame.probe.setAttribute("aria-pressed", String(probing));
    pattern.probe(probing);
  }

  function switchTest() {
    testing = !testing;
    tested = "";
    if (testing) showTest(store.scene);
    else {
      pattern.test(null);
      charts.test(null);
      go(look.t);
    }
    frame.test.setAttribute("aria-pressed", String(testing));
  }

  /** Request fresh points of the same set: those of another seed. @param {Scene} scene */
  async function showTest(scene) {
    const set = catalogue.data.find((one) => one.name === scene.data);
    const drawn = set?.controls.some((control) => control.name === "data_seed");
    frame.test.disabled = !drawn;
    if (!drawn) {
      pattern.test(null);
      charts.test(null);
      return;
    }
    if (tested === dataKey(scene)) return;
    tested = dataKey(scene);
    const data_seed = ((scene.data_seed ?? 0) + TEST_SEED) % 10_000;
    const plain = { learner: "Perceptron", params: {}, features: "none", order: "cyclic", epochs: 1, start: null };
    try {
      const { X, y } = readRun(await ask("run", { ...scene, ...plain, race: [], data_seed }));
      if (!testing || tested !== dataKey(store.scene)) return;
      pattern.test({ X, y });
      charts.test({ X, y });
      go(look.t);
    } catch (error) {
      complain(error);
    }
  }

  /** @param {unknown} error */
  function complain(error) {
    player.pause();
    const message = error instanceof Error ? error.message : String(error);
    frame.narration.replaceChildren(message);
    frame.end.textContent = "";
    frame.live.textContent = message;
    root.classList.add("failed");
    root.dataset.ready = "failed";
  }

  // ------------------------------------------------------------------------------------------------- acts

  function can() {
    const run = runs[0];
    const learner = catalogue.learners.find((one) => one.name === store.scene.learner);
    const plane = store.scene.data === "points" || !run || run.d === 2;
    return { points: editable && plane, start: Boolean(run && isStraight(run) && learner?.start !== false) };
  }

  /** @param {number} row */
  function hover(row) {
    pattern.hover(row);
    weights.hover(row);
    time.hover(row);
    log.hover(row);
  }

  /** @param {number} k */
  function chooseClass(k) {
    drawnClass = k;
    frame.drawn.press(String(k));
  }

  /** @param {string} name */
  function chooseSpace(name) {
    look.view = name;
    weights.choose(name);
    frame.spaces.press(name);
    go(look.t);
  }

  /** @param {boolean} on */
  async function prove(on) {
    proving = on && runs.length > 0;
    frame.prove.setAttribute("aria-pressed", String(proving));
    if (!proving) return pattern.prove(null);
    frame.tabs.open("Proof");
    const panel = frame.tabs.panel("Proof");
    const scene = store.scene;
    if (!certificate) {
      panel.replaceChildren(...proofText(null, "Proving \u2026"));
      try {
        const answer = await ask("certificate", { ...scene, race: [] });
        if (scene !== store.scene || !proving) return;
        certificate = readCertificate(answer);
      } catch (error) {
        panel.replaceChildren(...proofText(null, error instanceof Error ? error.message : String(error)));
        return;
      }
    }
    panel.replaceChildren(...proofText(certificate, ""));
    pattern.prove(certificate);
  }

  /** @param {string} name */
  function openedTab(name) {
    if (name === "Python") showCode();
    if (name === "Proof" && !proving)
      frame.tabs.panel("Proof").replaceChildren(...proofText(certificate, "Press \u201cProve it\u201d, or c."));
    if (name !== "Tour") root.classList.remove("touring");
    if (runs.length) go(look.t);
  }

  async function showCode() {
    const panel = frame.tabs.panel("Python");
    if (!code.parentNode) {
      const copy = button("Copy", "Copy the code", () => navigator.clipboard?.writeText(code.textContent ?? ""));
      panel.append(make("p", { class: "soft" }, "This gives the weights on the screen."), code, copy);
    }
    try {
      code.textContent = await pythonCode();
    } catch (error) {
      code.textContent = `# ${error instanceof Error ? error.message : error}`;
    }
  }

  /** Request the vote of all weights so far, which is not a line. */
  async function showVote() {
    const [scene, t, run] = [store.scene, look.t, runs[0]];
    if (!run || !isStraight(run) || !t || t > run.trials) return;
    const answer = await Promise.resolve(ask("surface", { ...scene, race: [], t, way: "vote" })).catch(() => null);
    if (!answer || scene !== store.scene || t !== look.t) return;
    pattern.vote((answer instanceof ArrayBuffer ? readArrays(answer) : answer).arrays.score);
  }

  /** @returns {Promise<string>} */
  function pythonCode() {
    return ask("code", { ...store.scene, race: [], t: Math.min(look.t, runs[0]?.ended ?? 0) });
  }

  /** Return all that a file needs to open the lab as it is. */
  function state() {
    return { ...store.scene, t: look.t, view: look.view };
  }

  /**
   * Take a file that was dropped on the page: a saved scene, or a table.
   * @param {string} text
   */
  function takeFile(text) {
    if (!text.trimStart().startsWith("{")) return table.open(text);
    try {
      const { t, view, ...scene } = JSON.parse(text);
      look = { ...look, ...lookOf({ ...look, t, view }) };
      settle();
      store.replace({ ...defaultScene(), ...scene });
    } catch {
      complain(new Error("This file is neither a scene of the lab nor a table. Drop a scene.json, or a CSV file."));
    }
  }

  /** @param {string} text */
  async function takeTable(text) {
    const answer = await ask("table", { text, label: null });
    const plain = (/** @type {string[]} */ names) => names.map((name) => name.replaceAll(",", " "));
    store.change({ ...OWN_POINTS, points: answer.points, names: plain(answer.names), labels: plain(answer.classes) });
    return answer.sentence ?? "";
  }

  // ------------------------------------------------------------------------------------------------- the tour

  /** @param {import("./types").Chapter} chapter */
  function openChapter(chapter) {
    player.pause();
    look = { ...look, t: 0, view: chapter.view, chapter: chapter.number, hide: chapter.hide };
    root.classList.add("touring");
    frame.tabs.open("Tour");
    chooseSpaceQuietly(look.view);
    const scene = { ...defaultScene(), ...chapter.scene };
    if (options.address) history.pushState(null, "", `#${toAddress(scene, look, catalogue)}`);
    store.replace(scene);
  }

  /** @param {import("./types").Exercise} exercise */
  function openExercise(exercise) {
    const { scene } = fromAddress(exercise.scene, catalogue);
    look = { ...look, t: 0, chapter: 0, hide: [], exercise: exercise.id };
    root.classList.remove("touring");
    hideParts(root, look.hide);
    store.replace(scene);
  }

  function leaveTour() {
    look = { ...look, chapter: 0, hide: [] };
    root.classList.remove("touring");
    prediction.ask(0, () => {});
    hideParts(root, look.hide);
    atRest();
  }

  function openTour() {
    frame.tabs.open("Tour");
    if (!look.chapter) tour?.open(0);
  }

  // ------------------------------------------------------------------------------------------------- looks

  const systemDark = matchMedia("(prefers-color-scheme: dark)");

  function switchTheme() {
    look.theme = root.dataset.theme === "dark" ? "light" : "dark";
    dress();
    go(look.t);
  }

  /** Follow the theme of the document that embeds the run: light, dark, or that of the system. */
  function fromAround(/** @type {MessageEvent} */ event) {
    const theme = event.data?.labTheme;
    if (event.source !== window.parent || !["light", "dark", ""].includes(theme)) return;
    look.theme = theme;
    dress();
    if (runs.length) go(look.t);
  }

  function dress() {
    root.dataset.theme = look.theme || (systemDark.matches ? "dark" : "light");
    root.classList.toggle("projector", look.projector);
  }

  function switchProjector() {
    look.projector = !look.projector;
    dress();
    go(look.t);
  }

  /** @param {string} name */
  function chooseSpaceQuietly(name) {
    weights.choose(name);
    frame.spaces.press(name);
  }

  /** @param {number} way */
  function changeSpeed(way) {
    const at = SPEEDS.findIndex((speed) => speed >= player.speed);
    setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at + way))]);
  }

  function wire() {
    frame.boxes.replaceWith(controls.boxes);
    frame.settings.panel.append(controls.form);
    frame.exports.panel.append(
      ...exportEntries({
        pictures: () => [
          ...(pattern.drawn() ? [pattern.svg] : []),
          ...(runs.length > 1 ? rivals.pictures() : [weights.svg]),
        ],
        ground: () => getComputedStyle(frame.pattern.section).backgroundColor,
        run: () => runs[0],
        state,
        page: editable ? () => ask("page", state()) : null,
        code: pythonCode,
        failed: complain,
      }),
    );
    root.tabIndex = -1; // keys must reach a lab inside a document
    // A mouse click must not move the focus: otherwise space would press the button instead of playing.
    for (const bar of root.querySelectorAll(".bar, .tools, .tabs")) {
      bar.addEventListener("mousedown", (event) => {
        if (!(/** @type {Element} */ (event.target).closest("button"))) return;
        event.preventDefault();
        if (!root.contains(document.activeElement)) root.focus({ preventScroll: true });
      });
    }
    bindKeys(options.address ? document : root, {
      " ": () => player.toggle(),
      r: () => (player.way < 0 ? player.pause() : player.play(-1)),
      ArrowRight: stepOn,
      ArrowLeft: () => walk(look.t - 1),
      "shift+ArrowRight": () => walk(jump(look.t, 1)),
      "shift+ArrowLeft": () => walk(jump(look.t, -1)),
      Home: () => walk(0),
      End: () => walk(last()),
      "[": () => walk(toEpoch(-1)),
      "]": () => walk(toEpoch(1)),
      0: () => pattern.zoom(0),
      x: switchProbe,
      "+": () => changeSpeed(1),
      "=": () => changeSpeed(1),
      "-": () => changeSpeed(-1),
      1: () => chooseClass(0),
      2: () => chooseClass(1),
      3: () => chooseClass(2),
      4: () => chooseClass(3),
      z: () => store.undo(),
      "shift+z": () => store.redo(),
      "ctrl+z": () => store.undo(),
      "ctrl+shift+z": () => store.redo(),
      v: () => chooseSpace(SPACES[(SPACES.findIndex((s) => s.name === look.view) + 1) % SPACES.length].name),
      c: () => prove(!proving),
      t: openTour,
      d: switchTheme,
      p: switchProjector,
      "?": () => help.showModal(),
      s: () => frame.share.box.toggleAttribute("open"),
      e: () => frame.exports.box.toggleAttribute("open"),
    });
    systemDark.addEventListener("change", () => {
      dress();
      if (runs.length) go(look.t);
    });
    if (window.parent !== window) window.addEventListener("message", fromAround);
    if (editable) {
      root.addEventListener("dragover", (event) => event.preventDefault());
      root.addEventListener("drop", async (event) => {
        event.preventDefault();
        const file = event.dataTransfer?.files[0];
        if (file) takeFile(await file.text());
      });
    }
    if (options.address) {
      window.addEventListener("hashchange", fromLocation);
      window.addEventListener("popstate", fromLocation);
      document.addEventListener("paste", (event) => {
        const text = event.clipboardData?.getData("text/plain") ?? "";
        const aimed = /** @type {Element} */ (event.target).closest?.("input, textarea");
        if (!aimed && text.includes("\n")) table.open(text);
      });
    }
  }

  /** Follow the address, when the user edits it or goes back. */
  function fromLocation() {
    if (location.hash.slice(1) === address(look)) return;
    const next = fromAddress(location.hash, catalogue);
    look = next.look;
    settle();
    note = next.note;
    store.replace(next.scene);
  }

  /** Apply the look of an address. */
  function settle() {
    dress();
    player.speed = look.speed;
    time.speed(player.speed);
    chooseSpaceQuietly(look.view);
    if (look.chapter) {
      root.classList.add("touring");
      frame.tabs.open("Tour");
      tour?.resume(look.chapter);
    }
    if (look.exercise) {
      frame.tabs.open("Exercises");
      exercises?.resume(look.exercise);
    }
  }

  async function begin() {
    wire();
    chooseClass(1);
    controls.show(first);
    choice.show(first);
    frame.tabs.open("Curves");
    settle();
    hideParts(root, look.hide);
    if (options.bytes) take([readRun(options.bytes)], first);
    else if (isSparse(first)) waitForPoints(first.points ?? []);
    else await requests.request(first);
    if (certificate) pattern.prove(certificate);
    if (!look.t) time.pulse();
  }

  const handle = {
    go,
    play: () => player.play(),
    pause: () => player.pause(),
    /** @param {(state: {scene: Scene, t: number}) => void} notify  called after any change, at rest */
    watch: (notify) => watchers.push(notify),
    /** @param {{scene?: Partial<Scene>, t?: number}} next */
    show(next) {
      const moved = next.t !== undefined && next.t !== look.t;
      if (next.t !== undefined) look.t = next.t;
      const scene = { ...defaultScene(), ...next.scene };
      if (next.scene && JSON.stringify(scene) !== JSON.stringify(store.scene)) store.change(scene);
      else if (moved) go(look.t);
    },
    get scene() {
      return store.scene;
    },
    get run() {
      return runs[0];
    },
    get t() {
      return look.t;
    },
  };
  return { begin, handle };
}
