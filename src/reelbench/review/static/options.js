// The options of an item: to choose from, or with the key marked.
import { element, t } from "./api.js";

export const letter = (place) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place];

// Options to choose from; onpick gets the places that are chosen.
export function choiceList(task, picked, onpick) {
  const several = task.kind === "multi";
  const inputs = task.options.map((_, place) => element("input", {
    type: several ? "checkbox" : "radio", name: "option", value: place, checked: picked.includes(place),
    onchange: () => onpick(chosen()),
  }));
  const chosen = () => inputs.flatMap((input, place) => (input.checked ? [place] : []));
  const list = element("fieldset", { class: "choices" },
    element("legend", {}, several ? t("choose_all") : t("choose_one")),
    task.options.map((text, place) => element("label", { class: "choice" },
      inputs[place], element("kbd", { "aria-hidden": "true" }, letter(place)), element("span", { class: "text", dir: "auto" }, text))));
  // Picks by key as a click does: several can be on at once, one of the others.
  const pick = (place) => { inputs[place].click(); inputs[place].focus(); };
  const clear = () => inputs.forEach((input) => { input.checked = false; });
  return { list, pick, clear };
}

// The keys that pick options: their letters, and digits for the first nine.
export function optionKeys(count, pick) {
  const places = Array.from({ length: count }, (_, place) => place);
  return [
    { keys: places.map(letter), label: t("keys_letters"), shown: `A–${letter(count - 1)}`, run: (key) => pick(key.charCodeAt(0) - 97) },
    { keys: places.slice(0, 9).map((place) => String(place + 1)), label: t("keys_digits"), shown: `1–${Math.min(9, count)}`, run: (key) => pick(Number(key) - 1) },
  ];
}

// Options with the key in green, and what was chosen marked.
export function markedList(options, key, chosen = null) {
  return element("ul", { class: "options" }, options.map((text, place) => {
    const right = key.includes(place);
    const mine = chosen?.includes(place);
    return element("li", { class: right ? "key" : mine ? "missed" : "" },
      element("b", {}, letter(place)), element("bdi", {}, text),
      right && element("span", { class: "marked" }, t("mark_key")),
      mine && element("span", { class: "marked" }, t("mark_mine")));
  }));
}
