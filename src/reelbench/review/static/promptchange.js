// Deciding about a change of a prompt: what it says and would say, why, and the drafts behind it.
import { element, t } from "./api.js";
import { decisions } from "./decide.js";
import { longestCommon, textDiff } from "./diff.js";
import { commentBox, labelled, question, textBox } from "./layout.js";
import { markedList } from "./options.js";
import { keyHint, setKeys } from "./shortcuts.js";

const AROUND = 2; // unchanged lines that are shown before and after a change
const percent = (share) => (share == null ? "–" : `${(100 * share).toFixed(1)}%`);

export function showChange(work, place, decide) {
  const { task } = work;
  const { change } = task;
  const diff = element("div", { class: "promptdiff" });
  const show = (text) => diff.replaceChildren(...diffLines(change.before, text));
  const decision = decisions(work, null, decide, ["accept", "change", "reject"], () => editForm(work, show, decide));
  decision.element.addEventListener("keys", shown);
  const why = element("section", { class: "card why" }, question(task),
    element("p", { class: "reason", dir: "auto" }, change.reason),
    element("p", { class: "note" }, t("prompt_by", { model: change.model, count: change.read.length })), roundsTable(change.rounds));
  const lines = element("section", { class: "card lines" }, element("h2", {}, t("prompt_changes")), diff);
  const panel = element("section", { class: "card panel" }, element("h2", {}, t("verify_decide")), decision.element,
    element("h2", {}, t("prompt_drafts", { count: change.drafts.length })), change.drafts.map(draftCard));
  place.replaceChildren(why, element("div", { class: "split prompts" }, lines, panel));
  shown();

  function shown() {
    setKeys(decision.keys);
    show(work.state.form === "change" ? work.state.prompt ?? change.after : change.after);
  }
}

function roundsTable(rounds) {
  const row = (each) => element("tr", { class: each === rounds.at(-1) ? "strong" : "" },
    element("th", { scope: "row" }, String(each.number)), element("td", { class: "number" }, String(each.drafts)),
    element("td", { class: "number" }, `${each.passed} / ${each.asked}`), element("td", { class: "number" }, percent(each.rate)),
    element("td", { class: "number" }, each.interval[0] == null ? "–" : t("prompt_interval", { low: percent(each.interval[0]), high: percent(each.interval[1]) })));
  const heads = ["round", "drafts_written", "passed", "rate", "sure"].map((name, at) => element("th", { class: at ? "number" : "", scope: "col" }, t(`prompt_${name}`)));
  return element("div", { class: "scroll" }, element("table", { class: "dense rounds" }, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rounds.map(row))));
}

// The lines of both prompts in pairs, the same, one in place of the other, or with none on one side.
function linePairs(before, after) {
  const [a, b] = [before, after].map((text) => text.trimEnd().split("\n"));
  const pairs = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...longestCommon(a, b), [a.length, b.length]]) {
    while (i < x || j < y) pairs.push([i < x ? a[i++] : null, j < y ? b[j++] : null]);
    if (x < a.length) pairs.push([a[x], a[x]]);
    [i, j] = [x + 1, y + 1];
  }
  return pairs;
}

// Those far from any change are folded away.
function diffLines(before, after) {
  const lines = linePairs(before, after);
  const changed = lines.map(([old, now]) => old !== now);
  const near = lines.map((_, at) => changed.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(Boolean));
  const rows = [];
  for (let at = 0; at < lines.length;) {
    let end = at;
    while (end < lines.length && !near[end]) end += 1;
    if (end > at) {
      const hidden = lines.slice(at, end).map(([text]) => same(text));
      rows.push(element("details", {}, element("summary", {}, t("prompt_same", { count: hidden.length })), hidden));
      at = end;
    } else rows.push(...(changed[at] ? pair(lines[at]) : [same(lines[at][0])])), at += 1;
  }
  return rows;
}

const line = (kind, sign, name, text) => element("p", { class: `line ${kind}`, dir: "auto" },
  element("span", { class: "sign", "aria-hidden": "true" }, sign), name ? element("span", { class: "unseen" }, name) : "", text);
const same = (text) => line("same", " ", "", text);

// The line as it was and as it would be, each with the words marked that the other has not.
function pair([before, after]) {
  const marked = (other) => {
    const diff = textDiff(before, after);
    diff.querySelectorAll(other).forEach((part) => part.remove());
    return diff;
  };
  const both = before !== null && after !== null;
  return [
    before === null ? "" : line("old", "−", t("prompt_before"), both ? marked("ins") : before),
    after === null ? "" : line("new", "+", t("prompt_after"), both ? marked("del") : after),
  ].filter(Boolean);
}

function draftCard(draft) {
  const right = draft.answer.map((letter) => letter.charCodeAt(0) - 65);
  const fate = element("b", { class: draft.passed ? "is-right" : "is-wrong" }, t(draft.passed ? "prompt_kept" : "prompt_dropped"));
  return element("article", { class: "draft" }, element("p", { class: "note" }, fate, " ", t("prompt_blind", { right: draft.right, of: draft.of })),
    element("p", { dir: "auto" }, draft.question), markedList(draft.options, right));
}

// The whole prompt to edit; what then changes is shown as one types.
function editForm(work, show, decide) {
  const { change } = work.task;
  const send = element("button", { type: "button", class: "primary sends", onclick: save }, t("decide_change_now"), keyHint("Ctrl Enter"));
  const text = textBox(work.state.prompt ?? change.after, (prompt) => { work.keep({ prompt }); changed(); }, 22);
  const comment = commentBox(work);
  text.classList.add("prompttext");
  function changed() {
    show(text.value);
    send.disabled = text.value.trim() === change.after.trim();
  }
  function save() {
    if (!send.disabled) decide({ decision: "change", changes: { reference: text.value }, comment: comment.value });
  }
  send.disabled = text.value.trim() === change.after.trim();
  return {
    element: element("div", {}, labelled(t("prompt_text"), text), labelled(t("comment"), comment), element("div", { class: "buttons" }, send)),
    keys: [{ keys: ["Enter"], ctrl: true, label: t("decide_change_now"), run: save }],
  };
}
