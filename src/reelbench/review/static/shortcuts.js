// Keys of the view that is shown. They come before those of the player, whose help lists both.
import { element, t } from "./api.js";

let bindings = [];

// Takes the keys of a view in place of those before: { keys, label, run, ctrl, shown, quiet }.
// Those with ctrl act while one types, too; shown stands for keys in the help; quiet ones are not
// listed there.
export const setKeys = (list) => { bindings = list; };

// The group of keys that the help lists for the page.
export const pageKeys = {
  get title() { return t("keys_page"); },
  get actions() {
    return bindings.filter((each) => !each.quiet)
      .map((each) => ({ keys: [(each.ctrl ? "Ctrl + " : "") + (each.shown ?? each.keys.join(" "))], label: each.label }));
  },
};

// The key of a button, beside its text.
export const keyHint = (key) => element("kbd", { "aria-hidden": "true" }, key);

const typing = (target) => target.closest("textarea, select") ||
  (target.matches("input") && !["radio", "checkbox", "range"].includes(target.type));
const pressed = (target) => target.closest("button, a, summary");

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
  const ctrl = event.ctrlKey || event.metaKey;
  if (!ctrl && event.key !== "Escape" && typing(event.target)) return;
  if (event.key === "Enter" && !ctrl && pressed(event.target)) return;
  const key = event.key.toLowerCase();
  const found = bindings.find((each) => Boolean(each.ctrl) === ctrl && each.keys.some((name) => name.toLowerCase() === key));
  if (!found) return;
  event.preventDefault();
  found.run(key);
}, true);
