// @ts-check
/** Editing: turns edits of points and weights into changes of the scene. */

import { colourOf } from "./frames.js";

/** @typedef {import("./types").Scene} Scene */
/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Editor} Editor */

/**
 * Return the points of a run.
 * @param {Run} run
 */
export function pointsOf(run) {
  return Array.from({ length: run.n }, (_, i) => [
    ...run.X.subarray(i * run.d, (i + 1) * run.d),
    colourOf(run, run.y[i]),
  ]);
}

/**
 * Create the editor.
 * @param {{scene: Scene, change: (change: Partial<Scene>, group?: string) => void, close: () => void}} store
 * @param {{points: () => number[][], classes: () => number, drawn: () => number, weights: () => number[],
 *   hover: (row: number) => void, can: () => {points: boolean, start: boolean}}} now
 * @returns {Editor}
 */
export function createEditor(store, now) {
  /** @param {number[][]} points @param {string} group */
  const set = (points, group) => {
    if (now.can().points) store.change({ data: "points", points }, group);
  };
  return {
    add(point) {
      const points = now.points();
      set([...points, [...point, now.drawn()]], "drag");
      return now.can().points ? points.length : 0;
    },
    move(row, point) {
      const points = now.points();
      if (points[row])
        set(
          points.map((p, i) => (i === row ? [...point, p[2]] : p)),
          "drag",
        );
    },
    remove: (row) =>
      set(
        now.points().filter((_, i) => i !== row),
        "",
      ),
    flip: (row) =>
      set(
        now.points().map((p, i) => (i === row ? [p[0], p[1], (p[2] + 1) % now.classes()] : p)),
        "",
      ),
    start(w) {
      if (now.can().start) store.change({ start: w }, "start");
    },
    weights: now.weights,
    done: () => store.close(),
    hover: now.hover,
  };
}
