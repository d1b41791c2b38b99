// The page where people verify items: they answer first, then see the key, then decide.
import { data, element, t } from "./api.js";
import { decisions, rejectForm } from "./decide.js";
import { spans } from "./diff.js";
import { openDiscussion, showConflict, showDiscussion, showList } from "./discussion.js";
import { factList, labelled, layout, question } from "./layout.js";
import { choiceList, markedList, optionKeys } from "./options.js";
import { showChange } from "./promptchange.js";
import { keyHint, setKeys } from "./shortcuts.js";
import { discussions, notice, Work } from "./work.js";

const place = document.getElementById("work");
const work = new Work({ show: (work, place) => (work.task.discussion ? showDiscussion : showItem)(work, place), conflict: showConflict });
window.addEventListener("hashchange", route);
document.addEventListener("discussed", countDiscussions);
window.addEventListener("focus", countDiscussions);
document.querySelector(".tabs").addEventListener("click", (event) => { if (event.target.closest("a")?.hash === location.hash) route(); });
route();

// Which part of the page the address names: the next item, the list of discussions, or one of them.
async function route() {
  const [part, item] = location.hash.slice(1).split("/");
  for (const tab of document.querySelectorAll(".tabs a")) {
    const isHere = (tab.hash === "#discussion") === (part === "discussion");
    if (isHere) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  countDiscussions();
  try {
    if (item) await openDiscussion(work, decodeURIComponent(item));
    else if (part === "discussion") await showList(work, place);
    else await work.start();
  } catch (error) {
    work.message(error.message);
  }
}

async function countDiscussions() {
  const count = document.getElementById("discussion-count");
  try {
    const { length } = await discussions();
    count.textContent = length ? String(length) : "";
  } catch { /* It is told with the work itself. */ }
}

function showItem(work, place) {
  const { task, state } = work;
  if (state.digest && state.digest !== task.digest) Object.assign(state, { picked: null, changes: null });
  if (task.change) return showChange(work, place, (body) => decide(work, {}, body));
  const { panel, video } = layout(work, place);
  if (task.reveal) revealed(work, panel, video);
  else answering(work, panel, video);
  return () => video.destroy();
}

// Before the answer: options without their key, or a text; or it is flagged at once.
function answering(work, panel, video) {
  const { task, state } = work;
  const open = task.kind === "open";
  const send = element("button", { type: "button", class: "primary sends", onclick: answer }, t("verify_answer"), keyHint(open ? "Ctrl Enter" : "Enter"));
  const ready = () => { send.disabled = !state.written?.trim() && !state.picked?.length; };
  const choices = open ? null : choiceList(task, state.picked ?? [], (picked) => { text.value = ""; work.keep({ picked, written: "" }); ready(); });
  const text = element(open ? "textarea" : "input", { type: "text", maxlength: 20000, dir: "auto", oninput: wrote });
  text.value = state.written ?? "";
  const ownText = open || data.protocol.written_answers ? labelled(t(open ? "answer_text" : "verify_write"), text) : "";
  panel.replaceChildren(question(task), open ? "" : choices.list, ownText, element("div", { class: "buttons" }, send, flag()));
  ready();
  setKeys([
    ...(open ? [] : optionKeys(task.options.length, choices.pick)),
    { keys: ["Enter"], label: t("verify_answer"), run: answer, quiet: open },
    { keys: ["Enter"], ctrl: true, label: t("verify_answer"), run: answer, quiet: !open },
    { keys: ["0"], label: t("verify_flag"), run: () => flagging(work, panel, video) },
  ]);

  function wrote() {
    choices?.clear();
    work.keep({ written: text.value, picked: [] });
    ready();
  }

  function flag() {
    return element("button", { type: "button", onclick: () => flagging(work, panel, video) }, t("verify_flag"), keyHint("0"));
  }

  async function answer() {
    if (send.disabled) return;
    const body = state.written?.trim() ? { written: state.written } : { choice: state.picked };
    const saved = await work.submit("answered", { ...body, watched: video.watched }, { needsReply: true });
    if (!saved) return;
    Object.assign(task, { reveal: saved.reveal, mine: { choice: body.choice ?? [], written: body.written ?? "" } });
    work.state = {};
    work.keep({ watched: video.watched });
    revealed(work, panel, video);
  }
}

// Low quality needs no answer: reasons, and it is rejected.
function flagging(work, panel, video) {
  const form = rejectForm(work, (body) => decide(work, video, body));
  const back = () => answering(work, panel, video);
  panel.replaceChildren(question(work.task), form.element, element("button", { type: "button", onclick: back }, t("cancel"), keyHint("Esc")));
  setKeys([...form.keys, { keys: ["Escape"], label: t("cancel"), run: back }]);
}

// After the answer: the key, whether the answer was right, and the decision.
function revealed(work, panel, video) {
  const { task } = work;
  const { answer, reference, evidence } = task.reveal;
  const { choice = [], written = "" } = task.mine ?? {};
  const right = !written && JSON.stringify(choice) === JSON.stringify(answer);
  const outcome = written ? "verify_compare" : right ? "verify_right" : "verify_wrong";
  const decision = decisions(work, video, (body) => decide(work, video, body));
  decision.element.addEventListener("keys", () => setKeys(decision.keys));
  panel.replaceChildren(question(task),
    element("p", { class: `outcome ${written ? "" : right ? "is-right" : "is-wrong"}`, role: "status" }, t(outcome)),
    task.options.length ? markedList(task.options, answer, choice) : "",
    written ? element("p", {}, element("b", {}, t("verify_you_wrote")), " ", written) : "",
    reference ? element("p", {}, element("b", {}, t("field_reference")), " ", reference) : "",
    evidence.length ? element("p", { class: "note" }, t("evidence_at", { spans: spans(evidence) })) : "", factList(task),
    element("h2", {}, t("verify_decide")), decision.element);
  setKeys(decision.keys);
}

async function decide(work, video, body) {
  const saved = await work.submit("verdict", { ...body, watched: video.watched });
  if (!saved) return;
  await work.next();
  countDiscussions();
  if (body.decision === "change") notice("done", t("verify_changed"));
}
