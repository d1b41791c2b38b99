// What changes from one text or item to another, as elements: del for what goes, ins for what comes.
import { element, t } from "./api.js";
import { letter } from "./options.js";

export function textDiff(before, after) {
  const [a, b] = [before, after].map((text) => (text ?? "").match(/\S+\s*/g) ?? []);
  const common = longestCommon(a, b);
  const parts = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...common, [a.length, b.length]]) {
    if (x > i) parts.push(element("del", {}, a.slice(i, x).join("")));
    if (y > j) parts.push(element("ins", {}, b.slice(j, y).join("")));
    if (x < a.length) parts.push(a[x].length > b[y].length ? a[x] : b[y]); // with the blank that either has
    [i, j] = [x + 1, y + 1];
  }
  return element("span", { class: "diff" }, parts);
}

const alike = (word, other) => word.trim() === other.trim();

// Pairs of places of the words, or lines, that both have, in order.
export function longestCommon(a, b) {
  const most = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      most[i][j] = alike(a[i], b[j]) ? most[i + 1][j + 1] + 1 : Math.max(most[i + 1][j], most[i][j + 1]);
    }
  }
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (alike(a[i], b[j])) pairs.push([i++, j++]);
    else if (most[i + 1][j] >= most[i][j + 1]) i++;
    else j++;
  }
  return pairs;
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const letters = (places) => places.map(letter).join(", ");
export const spans = (evidence) => evidence.map(([from, to]) => `${from}–${to} s`).join(", ");

// A list of what changes in an item; null where nothing does. Both sides hold question, options,
// answer (places), reference, evidence and the tags that can be changed; what the second lacks stays.
export function itemDiff(before, changes) {
  const rows = [];
  const row = (name, content) => rows.push(element("dt", {}, name), element("dd", {}, content));
  const changed = (field) => field in changes && !same(before[field], changes[field]);
  if (changed("question")) row(t("field_question"), textDiff(before.question, changes.question));
  if (changed("options")) {
    changes.options.forEach((text, place) => {
      if (text !== before.options[place]) row(t("field_option", { letter: letter(place) }), textDiff(before.options[place], text));
    });
  }
  if (changed("answer")) row(t("field_answer"), textDiff(letters(before.answer), letters(changes.answer)));
  if (changed("reference")) row(t("field_reference"), textDiff(before.reference, changes.reference));
  if (changed("evidence")) row(t("field_evidence"), textDiff(spans(before.evidence), spans(changes.evidence)));
  for (const [name, values] of Object.entries(before.tags ?? {})) {
    if (changes.tags && !same(values, [changes.tags[name] ?? []].flat())) row(name, textDiff(values.join(", "), [changes.tags[name] ?? []].flat().join(", ")));
  }
  return rows.length ? element("dl", { class: "changes" }, rows) : null;
}
