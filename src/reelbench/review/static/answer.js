// The page where people answer as in a test: no key, and no way back where the protocol says so.
import { call, data, element, itemPath, t } from "./api.js";
import { keyHint, setKeys } from "./shortcuts.js";
import { labelled, layout, question, textBox } from "./layout.js";
import { choiceList, optionKeys } from "./options.js";
import { card, toStart, Work } from "./work.js";

const work = new Work({ show, ending: () => card(t("answer_thanks"), toStart()) });
work.start();

function show(work, place) {
  const { task } = work;
  if (work.state.digest !== task.digest) work.state.picked = null;
  const picked = () => work.state.picked ?? task.mine?.choice ?? [];
  const written = () => work.state.written ?? task.mine?.written ?? "";
  const { panel, video } = layout(work, place);
  const open = task.kind === "open";
  const send = element("button", { type: "button", class: "primary sends", onclick: answer }, t("answer_send"), keyHint(open ? "Ctrl Enter" : "Enter"));
  const ready = () => { send.disabled = open ? !written().trim() : !picked().length; };
  const choices = open ? null : choiceList(task, picked(), (places) => { work.keep({ picked: places }); ready(); });
  panel.append(question(task), open ? labelled(t("answer_text"), textBox(written(), (text) => { work.keep({ written: text }); ready(); }, 5)) : choices.list,
    element("div", { class: "buttons" }, send, task.previous && back()),
    element("p", { class: "note" }, data.protocol.back ? t("answer_back_note") : t("answer_stays")));
  ready();

  function back() {
    const go = async () => work.open((await call("GET", itemPath("task", task.previous))).task);
    return element("button", { type: "button", onclick: go }, t("answer_previous"));
  }

  async function answer() {
    if (send.disabled) return;
    const body = { watched: video.watched, ...(open ? { written: written() } : { choice: picked() }) };
    if (await work.submit("answered", body)) await work.next();
  }

  setKeys([
    ...(open ? [] : optionKeys(task.options.length, choices.pick)),
    { keys: ["Enter"], ctrl: open, label: t("answer_send"), run: answer },
  ]);
  return () => video.destroy();
}
