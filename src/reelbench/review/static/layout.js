// Where an item stands on its page: the video on one side, what is asked of it on the other.
import { element } from "./api.js";
import { mountVideo } from "./video.js";

export function layout(work, place) {
  const stage = element("div", { class: "stage" });
  const panel = element("section", { class: "card panel" });
  place.replaceChildren(element("div", { class: "split" }, stage, panel));
  return { panel, video: mountVideo(stage, work.task) };
}

export const question = (task) => element("h1", { class: "question", tabindex: "-1" }, task.question);

// A box for a text that is kept, under a name, as one types.
export function commentBox(work, name = "comment", rows = 2) {
  const box = element("textarea", { rows, maxlength: 20000, oninput: () => work.keep({ [name]: box.value }) }, work.state[name] ?? "");
  return box;
}
