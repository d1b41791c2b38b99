// Changing an item: its question, options, key, evidence and tags, with what changes shown as one types.
import { data, element, t } from "./api.js";
import { itemDiff } from "./diff.js";
import { commentBox, labelled, textBox } from "./layout.js";
import { keyHint } from "./shortcuts.js";
import { letter } from "./options.js";

// The fields of an item that can be changed here, as they stand.
export function fieldsOf(task) {
  return {
    question: task.question, options: [...task.options], answer: [...task.reveal.answer],
    reference: task.reveal.reference ?? "", evidence: task.reveal.evidence.map((span) => [...span]),
    tags: structuredClone(task.reveal.tags ?? {}),
  };
}

export function changeForm(work, video, decide) {
  const before = fieldsOf(work.task);
  const now = work.state.changes ?? withWritten(fieldsOf(work.task), work.task.mine);
  const send = element("button", { type: "button", class: "primary sends", onclick: change }, t("decide_change_now"), keyHint("Ctrl Enter"));
  const preview = element("div", { class: "preview" });
  const comment = commentBox(work);
  const fields = element("div", {});

  function changed() {
    work.keep({ changes: now });
    const diff = itemDiff(before, now);
    preview.replaceChildren(element("h3", {}, t("change_preview")), diff ?? element("p", { class: "note" }, t("change_nothing")));
    send.disabled = !diff;
  }

  function draw() {
    fields.replaceChildren(...(work.task.kind === "open" ? [] : [optionFields(work.task.kind, now, changed, draw)]), evidenceFields(now, video, changed, draw));
    changed();
  }

  function change() {
    if (send.disabled) return;
    const differs = (name, value) => JSON.stringify(value) !== JSON.stringify(before[name]);
    const changes = Object.fromEntries(Object.entries(now).filter(([name, value]) => differs(name, value)));
    decide({ decision: "change", changes, comment: comment.value });
  }

  const form = element("div", {}, textField(now, "question", changed), work.task.kind === "open" ? textField(now, "reference", changed) : "",
    fields, data.protocol.tags.map((tag) => tagField(tag, now, changed)), preview, labelled(t("comment"), comment), element("div", { class: "buttons" }, send));
  draw();
  return { element: form, keys: [{ keys: ["Enter"], ctrl: true, label: t("decide_change_now"), run: change }] };
}

// Who wrote the right option proposes it as one more, and as the key.
function withWritten(fields, mine) {
  if (!mine?.written) return fields;
  if (!fields.options.length) return { ...fields, reference: mine.written };
  return { ...fields, options: [...fields.options, mine.written], answer: [fields.options.length] };
}

// A tag of the item, to choose from its values.
function tagField(tag, now, changed) {
  now.tags ??= {}; // of a draft from before
  const chosen = now.tags[tag.name] ?? [];
  const select = element("select", { multiple: tag.several, onchange: () => { now.tags[tag.name] = [...select.selectedOptions].map((each) => each.value).filter(Boolean); changed(); } },
    chosen.length || tag.several ? "" : element("option", { value: "" }, t("change_choose")),
    tag.choices.map((name) => element("option", { value: name, selected: chosen.includes(name) }, name)));
  return labelled(tag.name, select);
}

const textField = (now, name, changed) =>
  labelled(t(`field_${name}`), textBox(now[name], (text) => { now[name] = text; changed(); }, 3));

function optionFields(kind, now, changed, redraw) {
  const several = kind === "multi";
  const mark = (place, on) => {
    now.answer = several ? [...now.answer.filter((each) => each !== place), ...(on ? [place] : [])].sort((a, b) => a - b) : [place];
    changed();
  };
  const rows = now.options.map((text, place) => element("div", { class: "edit-option" },
    element("input", { type: several ? "checkbox" : "radio", name: "key", checked: now.answer.includes(place), "aria-label": t("change_is_key", { letter: letter(place) }), onchange: (event) => mark(place, event.target.checked) }),
    element("kbd", { "aria-hidden": "true" }, letter(place)),
    element("input", { type: "text", dir: "auto", value: text, disabled: kind === "yesno", "aria-label": t("field_option", { letter: letter(place) }), oninput: (event) => { now.options[place] = event.target.value; changed(); } })));
  const add = () => { now.options.push(""); redraw(); };
  return element("fieldset", { class: "choices" }, element("legend", {}, t("change_options")), rows,
    kind === "yesno" || now.options.length >= 26 ? "" : element("button", { type: "button", onclick: add }, t("change_add")));
}

function evidenceFields(now, video, changed, redraw) {
  const seconds = (span, edge) => {
    const box = element("input", { type: "number", min: 0, step: "any", value: span[edge], "aria-label": t(edge ? "evidence_end" : "evidence_start"), oninput: () => { span[edge] = Number(box.value); changed(); } });
    const here = element("button", { type: "button", onclick: () => { span[edge] = Math.round(video.currentTime * 1000) / 1000; redraw(); } }, t("evidence_here"));
    return [box, here];
  };
  const rows = now.evidence.map((span, place) => element("div", { class: "buttons" }, seconds(span, 0), "–", seconds(span, 1),
    element("button", { type: "button", class: "plain", onclick: () => { now.evidence.splice(place, 1); redraw(); } }, t("evidence_remove"))));
  const add = () => { const at = Math.round(video.currentTime * 10) / 10; now.evidence.push([at, at + 1]); redraw(); };
  return element("fieldset", { class: "choices" }, element("legend", {}, t("field_evidence")), rows, element("button", { type: "button", onclick: add }, t("evidence_add")));
}
