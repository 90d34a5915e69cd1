// @ts-check
/** Pattern space: the points, the boundary with its normal, regions and surfaces. Edited by pointer or keyboard. */
import { assign, draw, make, short } from "./elements.js";
import { colourOf, isStraight, scoreOf, weightsOf } from "./frames.js";
import { chord, clip, pathOf, zeroLine } from "./geometry.js";
import { arrowPath, createPlane, SHAPES, SIDE } from "./plane.js";
import { drawProof } from "./proof.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Point} Point */
/** @typedef {import("./types").Vector} Vector */
/** @typedef {import("./types").Editor} Editor */

const EASE_MS = 180;
const MOST_HAIRS = 150;
const LAYERS = ["field", "regions", "hairs", "proof", "line", "points", "ring"];

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
        "aria-label": `x${i + 1} at ${short(x)}, ${short(y)}, class ${c + 1}`,
      });
    });
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
    while (group.regions.childElementCount < each.length) draw("path", {}, group.regions);
    [...group.regions.children].forEach((node, k) => {
      const own = each[k];
      let region = own && frame.state ? plane.corners() : [];
      for (const other of own ? each : []) {
        if (other !== own) region = clip(region, own[0] - other[0], own[1] - other[1], own[2] - other[2]);
      }
      assign(node, { class: `region k${run ? colourOf(run, k) : k}`, d: pathOf(region, plane.x, plane.y, true) });
    });
  }

  /**
   * Return a function from the index of a point of the engine's grid to its pixel.
   * @param {[number, number, number, number]} box
   * @param {number} size
   */
  function gridPixel([left, right, bottom, top], size) {
    return (/** @type {number} */ i) => {
      const [u, v] = [(i % size) / (size - 1), Math.floor(i / size) / (size - 1)];
      return plane.pixel([left + u * (right - left), bottom + v * (top - bottom)]);
    };
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
    const at = gridPixel(run.about.box, size);
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
      const all = Array.from({ length: next.n }, (_, i) => [
        ...next.X.subarray(next.d * i, next.d * i + 2),
        colourOf(next, next.y[i]),
      ]);
      if (refit) plane.frame(...(next.about.box ?? boxAround(all)));
      placeField();
      view.place(all);
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
      const straight = isStraight(run);
      const still = !easing || !straight || !frame.changed || !frame.old.some(Boolean);
      if (straight && still) drawBoundary(frame.w);
      else if (straight) ease(frame);
      else drawBoundary([0, 0, 0]);
      const before = straight && frame.changed ? chord(plane.box, frame.old[0], frame.old[1], frame.old[2]) : null;
      assign(ghost, { d: before ? pathOf(before, plane.x, plane.y) : "" });
      const average = straight && frame.mean ? chord(plane.box, frame.mean[0], frame.mean[1], frame.mean[2]) : null;
      assign(mean, { d: average ? pathOf(average, plane.x, plane.y) : "" });
      drawRegions(frame);
      drawHairs(frame);
      if (frame.fs) paint(frame.fs);
      else assign(contour, { d: "" });
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
      const p = points[row];
      assign(lit, p ? { cx: plane.x(p[0]), cy: plane.y(p[1]), class: "ring lit" } : { class: "ring hidden" });
    },

    /** @param {Vector} lead  of the positive class in the vote of all past weights, on the grid */
    vote(lead) {
      if (run?.about.box) assign(vote, { d: zeroLine(lead, run.about.grid, gridPixel(run.about.box, run.about.grid)) });
    },

    /** @param {import("./types").Certificate | null} certificate */
    prove(certificate) {
      drawProof(plane, group.proof, certificate, points);
    },

    /** @param {Frame} frame */
    text: (frame) => (run ? describePattern(run, frame) : ""),
    selected: () => selected,
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
 * Return by how much each class is ahead of the best other, on the grid. Its score is the sum over its problems.
 * @param {Run} run
 * @param {Float64Array[]} fs
 */
function leadsOf(run, fs) {
  const { signs, classes } = run.about;
  if (classes.length === 2) return signs.map((row) => (row[0] > 0 ? fs[0] : fs[0].map((v) => -v)));
  const scores = signs.map((row) => fs[0].map((_, i) => row.reduce((sum, sign, p) => sum + sign * fs[p][i], 0)));
  return scores.map((own) =>
    own.map((v, i) => v - Math.max(...scores.filter((other) => other !== own).map((s) => s[i]))),
  );
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
 * Return a description of the picture.
 * @param {Run} run
 * @param {Frame} frame
 */
function describePattern(run, frame) {
  if (run.phi)
    return frame.fs?.some((f) => f.some(Boolean))
      ? run.about.classes.length > 2
        ? "Each class has the region where its score is highest."
        : "The boundary is where f is zero."
      : "No boundary: f is zero everywhere.";
  if (frame.each)
    return frame.state ? "Each class has the region where its score is highest." : "No boundary: all scores are zero.";
  if (!isStraight(run))
    return run.d > 2 ? `The first two of ${run.d} features: ${run.about.names.slice(0, 2).join(", ")}.` : "";
  const [a, b, c] = frame.w;
  let right = 0;
  for (let i = 0; i < run.n; i++) right += Number(scoreOf(run, frame, i) * (run.about.signs[run.y[i]]?.[0] ?? 0) > 0);
  const sides = `${right} of ${run.n} on their side`;
  if (!a && !b) return c ? `No boundary: f is ${short(c)} everywhere; ${sides}.` : "No boundary: w and b are zero.";
  const bias = c ? ` ${c < 0 ? "\u2212" : "+"} ${short(Math.abs(c))}` : "";
  return `Boundary (${short(a)}, ${short(b)})\u00b7x${bias} = 0; ${sides}.`;
}

/**
 * Add the handlers to add, move, flip and remove points, and to drag the boundary.
 * @param {{plane: ReturnType<typeof createPlane>, svg: SVGSVGElement}} view
 * @param {Editor} editor
 * @param {SVGPathElement[]} marks
 * @param {() => number[][]} points
 * @param {(row: number) => void} select
 */
function edit(view, editor, marks, points, select) {
  const { plane, svg } = view;
  const snapped = (/** @type {PointerEvent} */ event) => /** @type {Point} */ (plane.under(event).map(hundredths));

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
    if (target.classList.contains("handle")) return drag(event, dragBoundary(plane, editor, target, event));
    const added = editor.add(snapped(event));
    select(added);
    drag(event, (e) => editor.move(added, snapped(e)));
  });
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
