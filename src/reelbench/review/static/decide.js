// Deciding about an item whose key is shown: accept it, change it, or reject it with reasons.
import { data, element, t } from "./api.js";
import { changeForm } from "./change.js";
import { commentBox, labelled } from "./layout.js";
import { keyHint } from "./shortcuts.js";

const TAGS = data.protocol.failure_tags;

// Buttons for the decisions, and the form of the one that is being made. decide(body) saves it.
export function decisions(work, video, decide, choices = ["accept", "change", "reject"]) {
  const forms = element("div", { class: "form" });
  const accept = () => decide({ decision: "accept", comment: work.state.comment ?? "" });
  const open = (form) => { work.keep({ form }); draw(); forms.querySelector("textarea, input")?.focus(); };
  const run = { accept, change: () => open("change"), reject: () => open("reject") };
  const buttons = choices.map((name, place) => element("button", {
    type: "button", class: `sends${place ? "" : " primary"}`, onclick: run[name], "data-form": name,
  }, t(`decide_${name}`), keyHint(String(place + 1))));
  let keys;

  function draw() {
    const form = work.state.form === "change" ? changeForm(work, video, decide)
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
  const boxes = TAGS.map((tag) => element("input", {
    type: "checkbox", checked: work.state.tags.includes(tag),
    onchange: () => { work.keep({ tags: TAGS.filter((_, at) => boxes[at].checked) }); ready(); },
  }));
  const comment = commentBox(work);
  function reject() {
    if (!send.disabled) decide({ decision: "reject", tags: work.state.tags, comment: comment.value });
  }
  const form = element("div", {},
    TAGS.length ? element("fieldset", { class: "choices" }, element("legend", {}, t("decide_reasons")),
      TAGS.map((tag, at) => element("label", { class: "choice" }, boxes[at], at < 9 ? keyHint(String(at + 1)) : "", element("span", { class: "text" }, tag)))) : "",
    labelled(t("comment"), comment), element("div", { class: "buttons" }, send));
  ready();
  return {
    element: form,
    keys: [
      { keys: TAGS.slice(0, 9).map((_, at) => String(at + 1)), shown: `1–${Math.min(9, TAGS.length)}`, label: t("decide_reasons"), run: (key) => boxes[Number(key) - 1].click() },
      { keys: ["Enter"], ctrl: true, label: t("decide_reject_now"), run: reject },
    ],
  };
}
