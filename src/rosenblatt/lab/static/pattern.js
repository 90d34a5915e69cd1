// @ts-check
/** Pattern space: the points, the boundary with its normal, regions and surfaces. Edited by pointer or keyboard. */
import { assign, draw, make, SHAPES, short } from "./elements.js";
import {
  className,
  classScores,
  colourOf,
  coordinateName,
  isStraight,
  modeOf,
  rowOf,
  scoresAt,
  votesOf,
  weightsOf,
  winnerOf,
} from "./frames.js";
import { cellsOf, chord, clip, middleOf, pathOf, zeroLine } from "./geometry.js";
import { arrowPath, createPlane, SIDE } from "./plane.js";
import { createProbe } from "./probe.js";
import { drawProof } from "./proof.js";
import { rowsView } from "./table.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Point} Point */
/** @typedef {import("./types").Vector} Vector */
/** @typedef {import("./types").Editor} Editor */
/** @typedef {import("./types").Rows} Rows */

const EASE_MS = 180;
const MOST_HAIRS = 150;
const MOST_VOTES = 2_000_000; // products for a caption
const LAYERS = ["field", "regions", "hairs", "proof", "line", "test", "points", "ring", "probe"];
const ZOOM = 1.25;
const TAP_PIXELS = 8; // that a finger may move before it is a swipe

/** @param {number} v */
const hundredths = (v) => Math.round(v * 100) / 100 + 0;

/**
 * Return the class on the positive side of the first problem.
 * @param {Run} run
 */
const positiveClass = (run) =>
  Math.max(
    0,
    run.about.signs.findIndex((row) => row[0] > 0),
  );

/**
 * Create the view of pattern space.
 * @param {Element} host
 * @param {Editor | null} editor  null if nothing can be edited
 * @param {string} [label]
 */
export function patternView(host, editor, label = "Pattern space") {
  const plane = createPlane(host, label, LAYERS);
  const { svg, group } = plane;
  const rows = rowsView(host, editor?.hover);
  const probe = createProbe(plane, group.probe);
  const room = draw("foreignObject", { class: "room" }, group.field);
  const canvas = make("canvas", { "aria-hidden": "true" });
  room.append(canvas);
  const sides = [0, 1].map(() => draw("path", { class: "tint" }, group.field));
  const contour = draw("path", { class: "boundary" }, group.line);
  const vote = draw("path", { class: "boundary vote" }, group.line);
  const ghost = draw("path", { class: "boundary old" }, group.line);
  const mean = draw("path", { class: "boundary mean" }, group.line);
  const line = draw("path", { class: "boundary" }, group.line);
  const normal = draw("path", { class: "arrow" }, group.line);
  const handle = draw("path", { class: "handle" }, group.line);
  const tip = draw("circle", { class: "handle tip", r: 14 }, group.line);
  const ring = draw("circle", { r: 12, class: "ring" }, group.ring);
  const coming = draw("circle", { r: 12, class: "ring coming" }, group.ring);
  const name = draw("text", { class: "name" }, group.ring);
  const lit = draw("circle", { r: 15, class: "ring lit" }, group.ring);

  /** @type {SVGPathElement[]} */
  const marks = [];
  /** @type {number[][]} */
  let points = [];
  /** @type {Run | null} */
  let run = null;
  /** @type {Frame | null} */
  let shown = null;
  let moving = 0;
  let selected = 0;
  /** @type {import("./types").Certificate | null} */
  let proof = null;
  /** @type {Vector | null} */
  let votes = null; // of the positive class, on the grid
  const votedAt = 0; // the trial of the vote
  /** @type {Rows | null} */
  let test = null;

  /** Draw everything again, after the frame of the plane has changed. */
  function redraw() {
    placeField();
    placeMarks();
    drawTest();
    drawProof(plane, group.proof, proof, points, run);
    if (shown) view.show(shown);
  }

  /** Draw the test rows, hollow and small. */
  function drawTest() {
    const count = test && run ? test.y.length : 0;
    while (group.test.childElementCount > count) group.test.lastElementChild?.remove();
    while (group.test.childElementCount < count) draw("path", {}, group.test);
    [...group.test.children].forEach((mark, i) => {
      if (!test || !run) return;
      const c = colourOf(run, test.y[i]);
      const at = `translate(${plane.x(test.X[2 * i]).toFixed(1)} ${plane.y(test.X[2 * i + 1]).toFixed(1)}) scale(0.7)`;
      assign(mark, { d: SHAPES[c], class: `test k${c}`, transform: at });
    });
  }

  /** Move the marks to the points. */
  function placeMarks() {
    while (marks.length < points.length) marks.push(draw("path", { role: "img" }, group.points));
    while (marks.length > points.length) marks.pop()?.remove();
    selected = Math.max(0, Math.min(selected, marks.length - 1));
    marks.forEach((mark, i) => {
      const [x, y, c] = points[i];
      assign(mark, {
        d: SHAPES[c % 4],
        class: `point k${c % 4}`,
        transform: `translate(${plane.x(x).toFixed(1)} ${plane.y(y).toFixed(1)})${sizeOf(i)}`,
        tabindex: editor && i === selected ? 0 : -1,
        "aria-label": `x${i + 1} at ${short(x)}, ${short(y)}, class ${nameOf(c)}`,
      });
    });
  }

  /** Return the name of a class that can be drawn. @param {number} c */
  function nameOf(c) {
    const label = run ? run.about.classes.findIndex((_, k) => run && colourOf(run, k) === c) : -1;
    return run && label >= 0 ? className(run, label) : String(c + 1);
  }

  /** @param {number} i */
  function sizeOf(i) {
    const base = points.length > 150 ? 0.72 : 1;
    const alpha = shown?.alpha?.[i];
    const size = alpha === undefined ? base : base * Math.min(2, 0.75 + 0.4 * Math.sqrt(Math.abs(alpha)));
    return size === 1 ? "" : ` scale(${size.toFixed(2)})`;
  }

  /**
   * Draw the boundary of some weights, its two sides, and its normal.
   * @param {Vector} w
   */
  function drawBoundary(w) {
    const [a, b, c] = [w[0], w[1], w[2]];
    const positive = run ? positiveClass(run) : 1;
    const decided = a !== 0 || b !== 0 || c !== 0;
    sides.forEach((side, k) => {
      const way = k ? -1 : 1;
      const half = decided ? clip(plane.corners(), way * a, way * b, way * c) : [];
      assign(side, {
        d: pathOf(half, plane.x, plane.y, true),
        class: `tint k${run ? colourOf(run, k ? 1 - positive : positive) : k}`,
      });
    });
    const ends = chord(plane.box, a, b, c);
    assign(line, { d: ends ? pathOf(ends, plane.x, plane.y) : "" });
    assign(handle, { d: ends && editor ? pathOf(ends, plane.x, plane.y) : "" });
    drawNormal(ends, a, b);
  }

  /** @param {[Point, Point] | null} ends @param {number} a @param {number} b */
  function drawNormal(ends, a, b) {
    const length = Math.hypot(a, b);
    if (!ends || !length) {
      assign(normal, { d: "" });
      assign(tip, { cx: -99, cy: -99 });
      return;
    }
    const foot = plane.pixel([(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2]);
    const reach = SIDE * 0.14;
    const head = /** @type {Point} */ ([foot[0] + (a / length) * reach, foot[1] - (b / length) * reach]);
    assign(normal, { d: arrowPath(foot, head) });
    assign(tip, { cx: editor ? head[0] : -99, cy: editor ? head[1] : -99 });
  }

  /**
   * Animate the boundary from the old weights to the new ones.
   * @param {Frame} frame
   */
  function ease(frame) {
    const begin = performance.now();
    const step = (/** @type {number} */ now) => {
      const s = Math.min(1, Math.max(0, now - begin) / EASE_MS);
      const smooth = s * s * (3 - 2 * s);
      drawBoundary(s < 1 ? frame.w.map((v, j) => frame.old[j] + (v - frame.old[j]) * smooth) : frame.w);
      if (s < 1) moving = requestAnimationFrame(step);
    };
    moving = requestAnimationFrame(step);
  }

  /**
   * Draw the region of each class, where its score is the highest, as exact polygons.
   * @param {Frame} frame
   */
  function drawRegions(frame) {
    const each = frame.each ?? [];
    const cells = run && frame.state && isVote(run) ? voteCells(run, frame, plane.corners()) : null;
    const count = cells ? (run?.about.classes.length ?? 0) : each.length;
    while (group.regions.childElementCount < count) draw("path", {}, group.regions);
    [...group.regions.children].forEach((node, k) => {
      const own = each[k];
      let region = own && frame.state ? plane.corners() : [];
      for (const other of own ? each : []) {
        if (other !== own) region = clip(region, own[0] - other[0], own[1] - other[1], own[2] - other[2]);
      }
      const parts = cells ? cells.filter((cell) => cell.winner === k).map((cell) => cell.polygon) : [region];
      assign(node, {
        class: `region k${run ? colourOf(run, k) : k}${cells ? " part" : ""}`,
        d: parts.map((part) => pathOf(part, plane.x, plane.y, true)).join(""),
      });
    });
    if (run && cells) {
      const borders = bordersOf(run, frame, cells);
      assign(contour, { d: borders.map((ends) => pathOf(ends, plane.x, plane.y)).join("") });
    }
  }

  /**
   * Shade a surface in the colours of the classes, and draw the lines where two of them are equal.
   * @param {Float64Array[]} fs  for each problem
   */
  function paint(fs) {
    if (!run?.about.box) return;
    const size = run.about.grid;
    const styles = getComputedStyle(svg);
    const colours = run.about.classes.map((_, k) => rgbOf(styles.getPropertyValue(`--k${run ? colourOf(run, k) : k}`)));
    const leads = leadsOf(run, fs);
    const most = leads.reduce((m, lead) => lead.reduce((n, v) => Math.max(n, v), m), 1e-12);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = pen.createImageData(size, size);
    for (let i = 0; i < size * size; i++) {
      const winner = leads.findIndex((lead) => lead[i] > 0);
      if (winner < 0) continue;
      const at = 4 * ((size - 1 - Math.floor(i / size)) * size + (i % size));
      image.data.set(colours[winner], at);
      image.data[at + 3] = 20 + 90 * Math.sqrt(leads[winner][i] / most);
    }
    pen.putImageData(image, 0, 0);
    const at = plane.gridPixel(run.about.box, size);
    // two classes share one line
    const lines = leads.length > 2 ? leads : leads.slice(1);
    assign(contour, { d: lines.map((lead) => zeroLine(lead, size, at)).join("") });
  }

  /** Move the canvas to the box of the engine's grid; its outer pixels extend half a cell beyond. */
  function placeField() {
    if (!run?.phi || !run.about.box) {
      assign(room, { width: 0, height: 0 });
      return;
    }
    const size = run.about.grid;
    canvas.width = canvas.height = size;
    const [left, right, bottom, top] = run.about.box;
    const [w, h] = [plane.x(right) - plane.x(left), plane.y(bottom) - plane.y(top)];
    const [cw, ch] = [w / (size - 1), h / (size - 1)];
    assign(room, { x: plane.x(left) - cw / 2, y: plane.y(top) - ch / 2, width: w + cw, height: h + ch });
  }

  /**
   * Draw all past boundaries as hairlines; the longer one survived, the darker.
   * @param {Frame} frame
   */
  function drawHairs(frame) {
    const wanted = run && isStraight(run) && run.mean && frame.state > 0;
    const first = Math.max(1, frame.state - MOST_HAIRS + 1);
    const count = wanted ? frame.state - first + 1 : 0;
    while (group.hairs.childElementCount < count) draw("path", { class: "hair" }, group.hairs);
    [...group.hairs.children].forEach((node, k) => {
      if (!run || k >= count) {
        assign(node, { d: "" });
        return;
      }
      const w = weightsOf(run, first + k);
      const ends = chord(plane.box, w[0], w[1], w[2]);
      const opacity = 0.1 + 0.6 * Math.sqrt((survived(run)[first + k] ?? 0) / run.trials);
      assign(node, { d: ends ? pathOf(ends, plane.x, plane.y) : "", opacity: opacity.toFixed(2) });
    });
  }

  /** @param {Vector} lead */
  function drawVote(lead) {
    if (!run?.about.box) return;
    assign(vote, { d: zeroLine(lead, run.about.grid, plane.gridPixel(run.about.box, run.about.grid)) });
  }

  /** @param {Frame} frame */
  function drawRing(frame) {
    if (!frame.x) {
      assign(ring, { class: "ring hidden" });
      name.textContent = "";
      return;
    }
    const [px, py] = plane.pixel(frame.x);
    assign(ring, { cx: px, cy: py, class: `ring ${frame.mistake ? "wrong" : frame.update ? "near" : "right"}` });
    const leftwards = px > SIDE - 50;
    assign(name, {
      x: px + (leftwards ? -16 : 16),
      y: py < 30 ? py + 24 : py - 12,
      "text-anchor": leftwards ? "end" : "start",
    });
    name.textContent = `x${frame.row + 1}`;
  }

  const view = {
    svg,
    plane,

    /** @param {Run} next @param {boolean} [refit] */
    load(next, refit = true) {
      run = next;
      shown = null;
      votes = null;
      const flat = next.d === 2;
      svg.classList.toggle("hidden", !flat);
      rows.box.hidden = flat;
      if (!flat) rows.load(next);
      const [across, up] = next.about.names.map(coordinateName);
      plane.name(across, up ?? "");
      const all = Array.from({ length: next.n }, (_, i) => [
        ...next.X.subarray(next.d * i, next.d * i + 2),
        colourOf(next, next.y[i]),
      ]);
      if (refit) plane.frame(...(next.about.box ?? boxAround(all)));
      placeField();
      view.place(all);
      drawTest();
    },

    /** Show the points alone, while there are not enough to learn from. @param {number[][]} next */
    clear(next) {
      run = null;
      shown = null;
      proof = null;
      votes = null;
      test = null;
      svg.classList.remove("hidden");
      rows.box.hidden = true;
      for (const path of [line, ghost, mean, vote, contour, normal, handle, ...sides]) assign(path, { d: "" });
      for (const layer of [group.regions, group.hairs, group.proof, group.test]) layer.replaceChildren();
      for (const one of [ring, coming, lit]) assign(one, { class: "ring hidden" });
      assign(tip, { cx: -99, cy: -99 });
      assign(room, { width: 0, height: 0 });
      name.textContent = "";
      probe.show(null, null);
      view.place(next);
    },

    /** Zoom by a factor: below 1 in, above 1 out; 0 fits all points. @param {number} factor @param {Point} [about] */
    zoom(factor, about) {
      if (factor) plane.zoom(factor, about);
      else plane.frame(...(run?.about.box ?? boxAround(points)));
      redraw();
    },

    /** Show rows that were not learned from; null hides them. @param {Rows | null} next */
    test(next) {
      test = next;
      drawTest();
    },

    /** Show or hide the probe. @param {boolean} on */
    probe(on) {
      probe.toggle(on);
      if (shown) probe.show(run, shown);
    },

    /** @param {number[][]} next  x, y and class of each point */
    place(next) {
      points = next;
      placeMarks();
    },

    /** @param {Frame} frame @param {boolean} [easing] */
    show(frame, easing = false) {
      cancelAnimationFrame(moving);
      assign(vote, { d: "" });
      if (!run) return;
      shown = frame;
      if (run.d !== 2) {
        rows.show(frame);
        return;
      }
      probe.show(run, frame);
      if (frame.t !== votedAt) votes = null;
      if (votes) drawVote(votes);
      const straight = isStraight(run);
      const still = !easing || !straight || !frame.changed || !frame.old.some(Boolean);
      if (straight && still) drawBoundary(frame.w);
      else if (straight) ease(frame);
      else drawBoundary([0, 0, 0]);
      const before = straight && frame.changed ? chord(plane.box, frame.old[0], frame.old[1], frame.old[2]) : null;
      assign(ghost, { d: before ? pathOf(before, plane.x, plane.y) : "" });
      const average = straight && frame.mean ? chord(plane.box, frame.mean[0], frame.mean[1], frame.mean[2]) : null;
      assign(mean, { d: average ? pathOf(average, plane.x, plane.y) : "" });
      assign(contour, { d: "" });
      drawRegions(frame);
      drawHairs(frame);
      if (frame.fs) paint(frame.fs);
      if (frame.alpha) placeMarks();
      drawRing(frame);
    },

    /** @param {number} row  that comes next, to be predicted; -1: none */
    expect(row) {
      const p = points[row];
      assign(coming, p ? { cx: plane.x(p[0]), cy: plane.y(p[1]), class: "ring coming" } : { class: "ring hidden" });
    },

    /** @param {number} row  -1: none */
    hover(row) {
      rows.hover(row);
      const p = points[row];
      assign(lit, p ? { cx: plane.x(p[0]), cy: plane.y(p[1]), class: "ring lit" } : { class: "ring hidden" });
    },

    /** @param {Vector} lead  of the positive class in the vote of all past weights, on the grid */
    vote(lead) {
      if (run?.about.box)
        assign(vote, { d: zeroLine(lead, run.about.grid, plane.gridPixel(run.about.box, run.about.grid)) });
    },

    /** @param {import("./types").Certificate | null} certificate */
    prove(certificate) {
      proof = certificate;
      drawProof(plane, group.proof, certificate, points, run);
    },

    /** @param {Frame} frame */
    text: (frame) => (run ? describePattern(run, frame, test) : ""),
    selected: () => selected,
    drawn: () => !svg.classList.contains("hidden"),
  };
  view.expect(-1);
  view.hover(-1);
  if (editor)
    edit(
      view,
      editor,
      marks,
      () => points,
      (row) => {
        selected = row;
        for (const [i, mark] of marks.entries()) mark.setAttribute("tabindex", i === row ? "0" : "-1");
      },
    );
  return view;
}

/**
 * Return by how much each class is ahead of the best other, on the grid.
 * @param {Run} run
 * @param {Float64Array[]} fs
 */
function leadsOf(run, fs) {
  const { signs, classes } = run.about;
  if (classes.length === 2) return signs.map((row) => (row[0] > 0 ? fs[0] : fs[0].map((v) => -v)));
  const leads = classes.map(() => new Float64Array(fs[0].length));
  for (let i = 0; i < fs[0].length; i++) {
    const scores = classScores(
      run,
      fs.map((f) => f[i]),
    );
    scores.forEach((own, c) => {
      leads[c][i] = own - Math.max(...scores.filter((_, other) => other !== c));
    });
  }
  return leads;
}

/** @param {Run} run */
const isVote = (run) => modeOf(run) === "ovo-vote" && run.k > 1 && run.width === 3 && !run.phi;

/**
 * Return the parts of the plane in which one class wins the votes of the pairs, as exact polygons. Where votes are
 * equal, the sums of scores decide, which are linear, too.
 * @param {Run} run
 * @param {Frame} frame
 * @param {Point[]} corners
 */
function voteCells(run, frame, corners) {
  const pairs = Array.from({ length: run.k }, (_, p) => weightsOf(run, frame.state, p));
  const sums = run.about.signs.map((row) =>
    [0, 1, 2].map((j) => row.reduce((s, sign, p) => s + sign * pairs[p][j], 0)),
  );
  const rivals = sums.flatMap((own, c) => sums.slice(c + 1).map((other) => own.map((v, j) => v - other[j])));
  return cellsOf(corners, pairs)
    .flatMap((cell) => (isTie(run, frame, cell) ? cellsOf(cell, rivals) : [cell]))
    .map((polygon) => ({ polygon, winner: winnerAt(run, frame, middleOf(polygon)) }));
}

/** @param {Run} run @param {Frame} frame @param {Point} x */
const winnerAt = (run, frame, x) => winnerOf(run, scoresAt(run, frame, x)?.f ?? []);

/** Return whether two classes have the most votes in a cell. */
function isTie(/** @type {Run} */ run, /** @type {Frame} */ frame, /** @type {Point[]} */ cell) {
  const votes = votesOf(run, scoresAt(run, frame, middleOf(cell))?.f ?? []);
  return votes.filter((vote) => vote === Math.max(...votes)).length > 1;
}

/**
 * Return the sides of cells that separate two classes.
 * @param {Run} run
 * @param {Frame} frame
 * @param {{polygon: Point[], winner: number}[]} cells
 * @returns {[Point, Point][]}
 */
function bordersOf(run, frame, cells) {
  return cells.flatMap(({ polygon, winner }) => {
    const centre = middleOf(polygon);
    return polygon.flatMap((p, i) => {
      const q = polygon[(i + 1) % polygon.length];
      const across = /** @type {Point} */ (
        [0, 1].map((j) => (p[j] + q[j]) / 2 + 1e-6 * ((p[j] + q[j]) / 2 - centre[j]))
      );
      return winnerAt(run, frame, across) === winner ? [] : [/** @type {[Point, Point]} */ ([p, q])];
    });
  });
}

/** @type {WeakMap<Run, Int32Array>} */
const survivals = new WeakMap();

/**
 * Return for how many trials each state of a run lasted.
 * @param {Run} run
 */
function survived(run) {
  let counts = survivals.get(run);
  if (!counts) {
    counts = new Int32Array(run.states);
    for (const state of run.at) counts[state]++;
    survivals.set(run, counts);
  }
  return counts;
}

/**
 * Return a box around points with some margin; of more than two features, the first two.
 * @param {number[][]} points
 * @returns {[number, number, number, number]}
 */
function boxAround(points) {
  const sides = [0, 1].flatMap((j) => {
    const values = points.map((p) => p[j]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return [low - (high - low) * 0.18 - 0.01, high + (high - low) * 0.18 + 0.01];
  });
  return /** @type {[number, number, number, number]} */ (sides);
}

/** @param {string} colour  as #rrggbb */
function rgbOf(colour) {
  return (colour.match(/[0-9a-f]{2}/gi) ?? ["80", "80", "80"]).slice(0, 3).map((pair) => Number.parseInt(pair, 16));
}

/**
 * Return the number of rows that the class wins which they have, under the weights of a frame; -1 if unknown.
 * @param {Run} run
 * @param {Frame} frame
 */
function rightRows(run, frame) {
  let right = 0;
  for (let i = 0; i < run.n; i++) {
    const scores = scoresAt(run, frame, rowOf(run, i));
    if (!scores) return -1;
    const sign = run.k === 1 && run.about.classes.length === 2 ? (run.about.signs[run.y[i]]?.[0] ?? 0) : 0;
    right += Number(sign ? scores.f[0] * sign > 0 : winnerOf(run, scores.f) === run.y[i]);
  }
  return right;
}

/**
 * Return the number of rows on their side of the average of the weights, or in the vote of all weights so far.
 * @param {Run} run
 * @param {Frame} frame
 */
function rightInAll(run, frame) {
  const votes = run.about.scene.learner === "VotedPerceptron";
  const { mean } = frame;
  if (!mean || (votes && frame.state * run.n > MOST_VOTES)) return -1;
  const lasted = votes ? lastedUntil(run, frame) : [];
  let right = 0;
  for (let i = 0; i < run.n; i++) {
    const x = rowOf(run, i);
    const score = (/** @type {Vector} */ w) => w[0] * x[0] + w[1] * x[1] + w[2];
    const total = votes
      ? lasted.reduce((sum, trials, s) => sum + trials * Math.sign(score(weightsOf(run, s))), 0)
      : score(mean);
    right += Number(total * (run.about.signs[run.y[i]]?.[0] ?? 0) > 0);
  }
  return right;
}

/** Return for how many trials each state had lasted at a frame. */
function lastedUntil(/** @type {Run} */ run, /** @type {Frame} */ frame) {
  const lasted = new Array(frame.state + 1).fill(0);
  for (let t = 0; t < frame.t; t++) lasted[run.at[t]]++;
  return lasted;
}

/**
 * Return how many of some rows another class wins, and of how many the page can tell.
 * @param {Run} run
 * @param {Frame} frame
 * @param {Rows} rows
 */
export function errorsAmong(run, frame, rows) {
  let [wrong, known] = [0, 0];
  const averaged = run.about.scene.learner === "VotedPerceptron" ? null : frame.mean;
  for (let i = 0; i < rows.y.length; i++) {
    const x = Array.from({ length: run.d }, (_, j) => rows.X[run.d * i + j]);
    const scores = scoresAt(run, frame, x, averaged);
    if (!scores) continue;
    known += 1;
    wrong += Number(scores.f.every((v) => v === 0) || winnerOf(run, scores.f) !== rows.y[i]);
  }
  return { wrong, known };
}

/**
 * Return a description of the picture.
 * @param {Run} run
 * @param {Frame} frame
 * @param {Rows | null} test
 */
function describePattern(run, frame, test) {
  const several = run.about.classes.length > 2;
  const right = rightRows(run, frame);
  const tried = test ? errorsAmong(run, frame, test) : null;
  const errors = tried ? `; test error ${tried.wrong} of ${tried.known}` : "";
  const sides = right < 0 ? "" : `${right} of ${run.n} ${several ? "in their class" : "on their side"}${errors}`;
  if (run.phi && !frame.fs?.some((f) => f.some(Boolean))) return "No boundary: f is zero everywhere.";
  if (several) {
    if (!frame.state && !run.slot) return "No boundary: all scores are zero.";
    const most = modeOf(run) === "ovo-vote" ? "most votes" : "highest score";
    return `Regions: where a class has the ${most}; ${sides}.`;
  }
  if (run.phi) return `The boundary is where f is zero; ${sides}.`;
  if (!isStraight(run)) return sides && `${sides}.`;
  const [a, b, c] = frame.w;
  if (!a && !b) return c ? `No boundary: f is ${short(c)} everywhere; ${sides}.` : "No boundary: w and b are zero.";
  const all = rightInAll(run, frame);
  if (all >= 0) {
    const name = run.about.scene.learner === "VotedPerceptron" ? "vote of all weights" : "average";
    return `On their side: ${all} of ${run.n} in the ${name}, ${right} with the last weights${errors}.`;
  }
  const bias = c ? ` ${c < 0 ? "\u2212" : "+"} ${short(Math.abs(c))}` : "";
  return `Boundary (${short(a)}, ${short(b)})\u00b7x${bias} = 0; ${sides}.`;
}

/**
 * Add the handlers to add, move, flip and remove points, and to drag the boundary.
 * @param {{plane: ReturnType<typeof createPlane>, svg: SVGSVGElement,
 *   zoom: (factor: number, about?: Point) => void}} view
 * @param {Editor} editor
 * @param {SVGPathElement[]} marks
 * @param {() => number[][]} points
 * @param {(row: number) => void} select
 */
function edit(view, editor, marks, points, select) {
  const { plane, svg } = view;
  // a point dragged outside stays at the edge, where it can be seen
  const snapped = (/** @type {PointerEvent} */ event) =>
    /** @type {Point} */ (plane.inside(plane.under(event)).map(hundredths));

  /** @param {PointerEvent} event @param {(event: PointerEvent) => void} move */
  const drag = (event, move) => {
    svg.setPointerCapture(event.pointerId);
    svg.addEventListener("pointermove", move);
    const end = () => {
      svg.removeEventListener("pointermove", move);
      svg.removeEventListener("pointerup", end);
      svg.removeEventListener("pointercancel", end);
      editor.done();
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
  };

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const target = /** @type {Element} */ (event.target);
    const row = marks.indexOf(/** @type {SVGPathElement} */ (target));
    if (row >= 0) {
      select(row);
      marks[row].focus();
      if (event.altKey) return editor.remove(row);
      if (event.shiftKey) return editor.flip(row);
      return drag(event, (e) => editor.move(row, snapped(e)));
    }
    if (target.closest(".layer-probe")) return;
    const swipes = event.pointerType === "touch" && !target.classList.contains("tip");
    if (target.classList.contains("handle") && !swipes) return drag(event, dragBoundary(plane, editor, target, event));
    if (event.shiftKey)
      return drag(
        event,
        pan(plane, event, () => view.zoom(1)),
      );
    if (event.pointerType === "touch") return tap(event);
    const added = editor.add(snapped(event));
    select(added);
    drag(event, (e) => editor.move(added, snapped(e)));
  });

  /** Add a point under a finger that is lifted where it came down; a swipe scrolls the page. */
  function tap(/** @type {PointerEvent} */ event) {
    const end = (/** @type {PointerEvent} */ e) => {
      svg.removeEventListener("pointerup", end);
      svg.removeEventListener("pointercancel", end);
      const moved = Math.hypot(e.clientX - event.clientX, e.clientY - event.clientY);
      if (e.type === "pointercancel" || moved > TAP_PIXELS) return;
      select(editor.add(snapped(e)));
      editor.done();
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", end);
  }

  svg.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      view.zoom(event.deltaY > 0 ? ZOOM : 1 / ZOOM, plane.under(event));
    },
    { passive: false },
  );
  svg.addEventListener("pointerover", (event) => {
    const row = marks.indexOf(/** @type {SVGPathElement} */ (event.target));
    editor.hover(row);
  });
  svg.addEventListener("pointerleave", () => editor.hover(-1));

  plane.group.points.addEventListener("keydown", (event) => {
    const row = marks.indexOf(/** @type {SVGPathElement} */ (event.target));
    if (row < 0 || event.ctrlKey || event.metaKey) return;
    const [x, y] = points()[row];
    const step = Math.max(0.01, hundredths((plane.box[0][1] - plane.box[0][0]) / 50));
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowLeft: () => editor.move(row, [hundredths(x - step), y]),
      ArrowRight: () => editor.move(row, [hundredths(x + step), y]),
      ArrowUp: () => editor.move(row, [x, hundredths(y + step)]),
      ArrowDown: () => editor.move(row, [x, hundredths(y - step)]),
      Delete: () => editor.remove(row),
      Backspace: () => editor.remove(row),
      f: () => editor.flip(row),
      Enter: () => select(editor.add([hundredths(x + step), hundredths(y + step)])),
      PageDown: () => select((row + 1) % marks.length),
      PageUp: () => select((row + marks.length - 1) % marks.length),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
    const [mx, my] = points()[row] ?? [x, y];
    if (plane.inside([mx, my]).some((v, j) => v !== [mx, my][j])) view.zoom(ZOOM);
    marks[
      Math.min(
        marks.length - 1,
        marks.findIndex((mark) => mark.getAttribute("tabindex") === "0"),
      )
    ]?.focus();
  });
  plane.group.points.addEventListener("focusin", (event) => {
    editor.hover(marks.indexOf(/** @type {SVGPathElement} */ (event.target)));
  });
  plane.group.points.addEventListener("focusout", () => editor.hover(-1));
}

/**
 * Move the plane under the pointer.
 * @param {ReturnType<typeof createPlane>} plane
 * @param {PointerEvent} event
 * @param {() => void} moved
 */
function pan(plane, event, moved) {
  const [ox, oy] = plane.under(event);
  return (/** @type {PointerEvent} */ e) => {
    const [x, y] = plane.under(e);
    const [[left, right], [bottom, top]] = plane.box;
    plane.frame(left + ox - x, right + ox - x, bottom + oy - y, top + oy - y);
    moved();
  };
}

/**
 * Drag the boundary, in parallel by its line or around by the tip of its normal: the weights start there.
 * @param {ReturnType<typeof createPlane>} plane
 * @param {Editor} editor
 * @param {Element} target
 * @param {PointerEvent} event
 */
function dragBoundary(plane, editor, target, event) {
  const w = editor.weights();
  const turns = target.classList.contains("tip");
  const [ox, oy] = plane.under(event);
  const size = Math.hypot(w[0], w[1]);
  const ends = chord(plane.box, w[0], w[1], w[2]) ?? [
    [0, 0],
    [0, 0],
  ];
  const foot = [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2];
  return (/** @type {PointerEvent} */ e) => {
    const [x, y] = plane.under(e);
    if (!turns) return editor.start([w[0], w[1], hundredths(w[2] - w[0] * (x - ox) - w[1] * (y - oy))]);
    const reach = Math.hypot(x - foot[0], y - foot[1]) || 1;
    const [a, b] = [hundredths((size * (x - foot[0])) / reach), hundredths((size * (y - foot[1])) / reach)];
    if (a || b) editor.start([a, b, hundredths(-a * foot[0] - b * foot[1])]);
  };
}
