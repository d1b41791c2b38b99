// Where an item stands on its page: the video on one side, what is asked of it on the other.
import { element } from "./api.js";
import { Video } from "./video.js";

export function layout(work, place) {
  const viewing = element("div", { class: "viewing" });
  const panel = element("section", { class: "card panel" });
  place.replaceChildren(element("div", { class: "split" }, viewing, panel));
  return { panel, video: new Video(work, viewing) };
}

export const question = (task) => element("h1", { class: "question", tabindex: "-1", dir: "auto" }, task.question);

// A box for text; oninput gets what it holds.
export function textBox(value, oninput, rows = 2) {
  const box = element("textarea", { rows, maxlength: 20000, dir: "auto", oninput: () => oninput(box.value) });
  box.value = value ?? "";
  return box;
}

// A box for a text that is kept, under a name, as one types.
export const commentBox = (work, name = "comment") => textBox(work.state[name], (text) => work.keep({ [name]: text }));

// What a protocol shows of an item beside its key, as names and texts.
export const factList = (task) => (task.reveal?.facts?.length ? element("dl", { class: "facts" },
  task.reveal.facts.flatMap((each) => [element("dt", {}, each.name), element("dd", { dir: "auto" }, each.text)])) : "");

export const labelled = (text, control) => element("label", { class: "field" }, text, control);
