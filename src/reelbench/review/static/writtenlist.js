// The questions that were written about a video: one's own can be edited and taken back.
import { data, element, t } from "./api.js";
import { clock } from "./controls.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

export function questionCard(written, ...rest) {
  const { author, question, options = [], answer = [], reference, evidence = [], tags = {} } = written;
  const facts = [t("write_by", { name: author === data.person ? t("write_you") : author }),
    ...evidence.map(([start, end]) => `${clock(start)} – ${clock(end)}`), ...Object.values(tags).flat()];
  return element("li", { class: "written", "data-id": written.id },
    element("p", { class: "text", dir: "auto" }, question),
    options.length ? element("ul", { class: "options" }, ...options.map((text, place) => element("li", { class: answer.includes(LETTERS[place]) ? "key" : "" }, element("b", {}, LETTERS[place]), element("bdi", {}, text)))) : null,
    reference ? element("p", { class: "reference" }, reference) : null,
    element("p", { class: "note" }, facts.join(" · ")), ...rest);
}

export function writtenList(written, { onedit, onwithdraw }) {
  if (!written.length) return element("p", { class: "note" }, t("write_none_yet"));
  return element("ul", { class: "plain-list" }, ...written.map((each) => {
    const own = each.author === data.person;
    return questionCard(each, own ? element("p", { class: "buttons" },
      element("button", { type: "button", onclick: () => onedit(each) }, t("write_edit")),
      element("button", { type: "button", class: "sends", onclick: () => onwithdraw(each) }, t("write_withdraw"))) : null);
  }));
}
