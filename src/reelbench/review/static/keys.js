// Keys that act wherever one is on a page, and the panel that lists them.
import { element, t } from "./api.js";

const TYPED = "input:not([type=range]):not([type=checkbox]):not([type=radio]):not([type=button]), textarea, select, [contenteditable]";
const PRESSED = "button, summary, a, input[type=checkbox], input[type=radio]"; // which Space is for
const NAMES = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
const CODES = { Comma: ",", Period: ".", Minus: "-", Equal: "=", Space: " ", Slash: "?" };

export const keyName = (key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);

// With Alt, keys act while one types, too; then it is the place of a key that counts.
function keyOf(event) {
  if (!event.altKey) return event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return CODES[event.code] ?? (event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : event.code);
}

// actions: [{ keys: [","], label: "player_back", run }]; a group of them has a title.
export class Keys {
  constructor(groups) {
    this.groups = groups;
    this.listener = (event) => this.press(event);
    document.addEventListener("keydown", this.listener);
  }

  get actions() { return this.groups.flatMap((group) => group.actions); }

  press(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (!event.altKey && event.target.closest?.(TYPED)) {
      if (event.key === "Escape") event.target.blur(); // and keys move the video again
      return;
    }
    const key = keyOf(event);
    if (key === " " && event.target.closest?.(PRESSED)) return;
    if (event.target.matches?.("input[type=range]") && key.startsWith("Arrow")) return;
    const action = this.actions.find((each) => each.run && each.keys.includes(key));
    if (!action) return;
    event.preventDefault();
    action.run();
  }

  // Opens the list of all keys.
  help() {
    const close = element("button", { class: "primary", onclick: () => panel.close() }, t("close"));
    const panel = element("dialog", { class: "keys", "aria-label": t("keys_title"), onclose: () => panel.remove() },
      element("h2", {}, t("keys_title")), element("p", { class: "note" }, t("keys_note")),
      element("div", { class: "groups" }, ...this.groups.map((group) => element("div", {}, element("h3", {}, group.title), element("dl", {}, ...group.actions.flatMap((action) => [
        element("dt", {}, ...action.keys.map((key) => element("kbd", {}, keyName(key)))),
        element("dd", {}, action.label)]))))), close);
    document.body.append(panel);
    panel.showModal();
    close.focus({ preventScroll: true });
  }

  destroy() { document.removeEventListener("keydown", this.listener); }
}
