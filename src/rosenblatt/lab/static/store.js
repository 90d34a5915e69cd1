// @ts-check
/** The scene, with undo and redo. */

/** @typedef {import("./types").Scene} Scene */

const MOST_STEPS_BACK = 200;

/**
 * Create a store. Consecutive changes with the same `group`, such as those of one drag, are undone together.
 * @param {Scene} first
 * @param {(scene: Scene, group: string) => void} changed
 */
export function createStore(first, changed) {
  let scene = first;
  let last = "";
  /** @type {Scene[]} */
  const past = [];
  /** @type {Scene[]} */
  const future = [];

  /** @param {Scene[]} from @param {Scene[]} to */
  const travel = (from, to) => {
    const next = from.pop();
    if (!next) return;
    to.push(scene);
    scene = next;
    last = "";
    changed(scene, "travel");
  };

  return {
    get scene() {
      return scene;
    },
    canUndo: () => past.length > 0,
    canRedo: () => future.length > 0,
    undo: () => travel(past, future),
    redo: () => travel(future, past),
    /** End a group of changes. */
    close: () => {
      last = "";
    },
    /** @param {Partial<Scene>} change @param {string} [group] */
    change(change, group = "") {
      if (!group || group !== last) past.push(scene);
      if (past.length > MOST_STEPS_BACK) past.shift();
      future.length = 0;
      last = group;
      scene = { ...scene, ...change };
      changed(scene, group);
    },
    /** @param {Scene} next  a scene from the address or the tour; this cannot be undone */
    replace(next) {
      scene = next;
      past.length = future.length = 0;
      changed(scene, "replace");
    },
  };
}
