// Deciding about an item whose key is shown: accept it, change it, or reject it with reasons.
import { data, element, t } from "./api.js";
import { changeForm } from "./change.js";
import { commentBox, labelled } from "./layout.js";
import { keyHint } from "./shortcuts.js";

const TAGS = data.protocol.failure_tags;

// Buttons for the decisions, and the form of the one that is being made. decide(body) saves it.
export function decisions(work, video, decide, choices = ["accept", "change", "reject"], changing = changeForm) {
  const forms = element("div", { class: "form" });
  const accept = () => decide({ decision: "accept", comment: work.state.comment ?? "" });
  const open = (form) => { work.keep({ form }); draw(); forms.querySelector("textarea, input")?.focus(); };
  const run = { accept, change: () => open("change"), reject: () => open("reject") };
  const buttons = choices.map((name, place) => element("button", {
    type: "button", class: `sends${place ? "" : " primary"}`, onclick: run[name], "data-form": name,
  }, t(`decide_${name}`), keyHint(String(place + 1))));
  let keys;

  function draw() {
    const form = work.state.form === "change" ? changing(work, video, decide)
      : work.state.form === "reject" ? rejectForm(work, decide) : null;
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.form === work.state.form)));
    forms.replaceChildren(...(form ? [form.element] : []));
    keys = form ? form.keys : choices.map((name, place) => ({ keys: [String(place + 1)], label: t(`decide_${name}`), run: run[name] }));
    if (form) keys = [...keys, { keys: ["Escape"], label: t("cancel"), run: () => { work.keep({ form: "" }); draw(); } }];
    box.dispatchEvent(new Event("keys"));
  }

  const box = element("div", { class: "decisions" }, element("div", { class: "buttons" }, buttons), forms);
  draw();
  return { element: box, get keys() { return keys; } };
}

export function rejectForm(work, decide) {
  work.state.tags ??= [];
  const send = element("button", { type: "button", class: "primary sends", onclick: reject }, t("decide_reject_now"), keyHint("Ctrl Enter"));
  const ready = () => { send.disabled = TAGS.length > 0 && !work.state.tags.length; };
  const types = data.protocol.open_types ? TAGS.map((tag, at) => typeField(work, tag, at, () => boxes[at].focus())) : [];
  const boxes = TAGS.map((tag, at) => element("input", {
    type: "checkbox", checked: work.state.tags.includes(tag), onchange: () => {
      work.keep({ tags: TAGS.filter((_, place) => boxes[place].checked) });
      types[at]?.toggle(boxes[at].checked);
      ready();
    },
  }));
  const comment = commentBox(work);
  function reject() {
    const tags = work.state.tags.map((tag) => (types.length ? typedTag(work, tag) : tag));
    if (!send.disabled) decide({ decision: "reject", tags, comment: comment.value });
  }
  // By key one goes on to name the type, where that is asked for.
  function tick(key) {
    const at = Number(key) - 1;
    boxes[at].click();
    if (boxes[at].checked) types[at]?.focus();
  }
  const form = element("div", {},
    TAGS.length ? element("fieldset", { class: "choices" }, element("legend", {}, t("decide_reasons")),
      types.length ? element("p", { class: "note" }, t("decide_type_note")) : "",
      TAGS.flatMap((tag, at) => [element("label", { class: "choice" }, boxes[at], at < 9 ? keyHint(String(at + 1)) : "", element("span", { class: "text" }, tag)), types[at]?.element])) : "",
    labelled(t("comment"), comment), element("div", { class: "buttons" }, send));
  types.forEach((each, at) => each.toggle(boxes[at].checked));
  ready();
  return {
    element: form,
    keys: [
      { keys: TAGS.slice(0, 9).map((_, at) => String(at + 1)), shown: `1–${Math.min(9, TAGS.length)}`, label: t("decide_reasons"), run: tick },
      { keys: ["Enter"], ctrl: true, label: t("decide_reject_now"), run: reject },
    ],
  };
}

// What is wrong, in the reviewer's words, under a reason; with those that were named so far. Enter
// goes back to the reasons.
function typeField(work, tag, at, leave) {
  const id = `type-${at}`;
  const input = element("input", {
    type: "text", list: `${id}-known`, maxlength: 80, dir: "auto", autocomplete: "off", "aria-label": t("decide_type_of", { tag }), placeholder: t("decide_type"),
    value: work.state.types?.[tag] ?? "",
    oninput: () => work.keep({ types: { ...work.state.types, [tag]: input.value } }),
    onkeydown: (event) => { if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.isComposing) { event.preventDefault(); leave(); } },
  });
  const known = element("datalist", { id: `${id}-known` }, (work.task.types?.[tag] ?? []).map((name) => element("option", { value: name })));
  const box = element("div", { class: "type" }, input, known);
  return { element: box, focus: () => input.focus(), toggle: (on) => { box.hidden = !on; } };
}

function typedTag(work, tag) {
  const type = work.state.types?.[tag]?.trim();
  return type ? `${tag}: ${type}` : tag;
}
