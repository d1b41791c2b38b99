// Items in discussion: the list of them, and one with all that people answered, decided and wrote.
import { call, element, itemPath, t } from "./api.js";
import { fieldsOf } from "./change.js";
import { decisions } from "./decide.js";
import { itemDiff } from "./diff.js";
import { commentBox, factList, labelled, layout, question } from "./layout.js";
import { letter, markedList } from "./options.js";
import { setKeys } from "./shortcuts.js";
import { discussions, notice } from "./work.js";

export async function showList(work, place) {
  const items = await discussions();
  work.close();
  work.task = null;
  const entry = (each) => element("li", {}, element("a", { href: `#discussion/${encodeURIComponent(each.item)}` }, each.question),
    element("small", {}, each.people.join(", "), " · ", when(each.time)));
  place.replaceChildren(element("section", { class: "card" }, element("h1", { tabindex: "-1" }, t("discussions")),
    items.length ? element("ul", { class: "plain-list" }, items.map(entry)) : element("p", {}, t("discussions_none"))));
}

export async function openDiscussion(work, item) {
  work.open((await call("GET", itemPath("task", item))).task);
}

// One item in discussion. Comments and the resolution are refused while others did something that
// is not on the page: then it is shown, and what was typed stays.
export function showDiscussion(work, place) {
  const { task } = work;
  const { panel, video } = layout(work, place);
  const settled = task.status !== "discussion";
  panel.append(element("p", { class: "badge" }, t(settled ? "discussion_settled" : "discussion_open")), question(task),
    task.options.length ? markedList(task.options, task.reveal.answer) : element("p", {}, element("b", {}, t("field_reference")), " ", task.reveal.reference ?? ""),
    factList(task), task.author ? element("p", { class: "note" }, t("written_by", { who: task.author })) : "",
    element("ol", { class: "history" }, task.discussion.map((each) => entryOf(task, each))));
  if (settled) setKeys([]);
  else resolving();
  return () => video.destroy();

  function resolving() {
    const box = commentBox(work, "text");
    const say = async () => { if (await work.submit("commented", { text: box.value }, { needsReply: true })) { work.keep({ text: "" }); await again(); } };
    const resolve = async (body) => { if (await work.submit("resolved", body, { needsReply: true })) await again(); };
    const choice = decisions(work, video, resolve);
    choice.element.addEventListener("keys", () => setKeys(choice.keys));
    panel.append(labelled(t("discussion_comment"), box),
      element("div", { class: "buttons" }, element("button", { type: "button", class: "sends", onclick: say }, t("discussion_send"))),
      element("h2", {}, t("discussion_resolve")), choice.element);
    setKeys(choice.keys);
  }

  async function again() {
    const state = { ...work.state };
    work.isLeaving = true; // until the page shows what was done
    try {
      const { task: fresh } = await call("GET", itemPath("task", task.item));
      work.open({ ...fresh, draft: { at: Date.now(), value: state } });
    } finally {
      work.isLeaving = false;
    }
    document.dispatchEvent(new Event("discussed"));
  }
}

// Others acted meanwhile: shows what they did; what was typed is still there.
export async function showConflict(work, error) {
  const state = { ...work.state };
  const { task } = await call("GET", itemPath("task", work.task.item));
  work.open({ ...task, draft: { at: Date.now(), value: state } });
  const people = [...new Set(error.events.map((event) => event.who))].join(", ");
  const what = [...new Set(error.events.map((event) => t(`event_${event.type}`)))].join(", ");
  notice("warning", t("conflict", { people, what }), element("ol", { class: "history" },
    task.discussion.filter((each) => error.events.some((event) => event.seq === each.seq)).map((each) => entryOf(task, each))));
}

function entryOf(task, each) {
  const diff = each.changes ? itemDiff(fieldsOf(task), each.changes) : null;
  return element("li", {}, element("p", {}, element("b", {}, each.who), " ", sentence(task, each), " ", element("small", {}, when(each.time), each.earlier ? ` · ${t("discussion_earlier")}` : "")),
    each.tags?.length ? element("p", { class: "note" }, each.tags.join(", ")) : "", diff ?? "",
    each.comment || each.text ? element("blockquote", {}, each.comment || each.text) : "");
}

function sentence(task, each) {
  if (each.type === "commented") return t("event_commented");
  if (each.type !== "answered") return t(`${each.type}_${each.decision}`);
  if (each.written) return t("answered_written", { text: each.written });
  return t("answered_choice", { options: each.choice.map((place) => `${letter(place)} ${task.options[place]}`).join("; ") });
}

const when = (time) => new Date(time).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
