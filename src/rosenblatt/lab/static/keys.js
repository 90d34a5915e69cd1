// @ts-check
/** Keyboard shortcuts, except for keys that the focused element needs. */

const TEXT = "input:not([type=range]):not([type=checkbox]), textarea, select";
const PRESSABLE = "button, summary, a, input[type=checkbox]";

/**
 * Bind keys to actions.
 * @param {HTMLElement | Document} target
 * @param {Record<string, (event: KeyboardEvent) => void>} acts  by key; "shift+" and "ctrl+" before it
 */
export function bindKeys(target, acts) {
  target.addEventListener("keydown", (given) => {
    const event = /** @type {KeyboardEvent} */ (given);
    const node = /** @type {Element} */ (event.target);
    if (event.defaultPrevented || event.altKey || !(node instanceof Element)) return;
    if (node.matches(TEXT) || node.closest("dialog")) return;
    if ((event.key === " " || event.key === "Enter") && node.matches(PRESSABLE)) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const control = event.ctrlKey || event.metaKey ? "ctrl+" : "";
    const act = acts[`${control}${event.shiftKey ? "shift+" : ""}${name}`] ?? (control ? undefined : acts[event.key]);
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
