// The fields of a question that someone writes, and what is wrong with them.
import { data, element, t } from "./api.js";
import { EvidenceList } from "./evidence.js";
import { OptionRows } from "./optionrows.js";

const { protocol } = data;
const KINDS = protocol.kinds.length ? protocol.kinds : ["single", "multi", "yesno", "open"];
const FIRST = { question: "", options: [], answer: [], reference: "", evidence: [], tags: {} };

const isEmpty = (value) => value == null || value === "" || (Array.isArray(value) && !value.some(Boolean));

export class QuestionForm extends EventTarget {
  constructor(player, { pairs }) {
    super();
    this.touched = new Set();
    this.places = {};
    this.evidence = pairs && !protocol.evidence ? null : new EvidenceList(player, () => this.changed("evidence"));
    this.options = new OptionRows(protocol.options, (field) => this.changed(field));
    this.question = this.box("question", 3);
    this.reference = this.box("reference", 2);
    this.kinds = KINDS.map((kind) => element("input", { type: "radio", name: "kind", value: kind, onchange: () => { this.arrange(); this.changed("kind"); } }));
    this.tags = protocol.tags.map((tag) => this.tagChoice(tag));
    this.root = element("div", { class: "fields" },
      this.field("question", element("label", { class: "name", for: "question" }, t("write_question")), this.question),
      this.kindChoice(),
      this.field("options", element("span", { class: "name" }, t("write_options")), this.options.root, this.problem("answer")),
      this.field("reference", element("label", { class: "name", for: "reference" }, t("write_reference")), this.reference),
      this.evidence && this.field("evidence", element("span", { class: "name" }, t(protocol.evidence ? "write_evidence" : "write_evidence_optional")), this.evidence.root),
      ...this.tags.map((tag) => tag.root));
    this.record = { kind: KINDS[0] };
  }

  box(name, rows) {
    return element("textarea", { id: name, name, rows, maxlength: 20000, dir: "auto", oninput: () => this.changed(name), "aria-describedby": `${name}-problem` });
  }

  field(name, ...content) {
    return element("div", { class: "asked", "data-field": name }, ...content, this.problem(name));
  }

  problem(name) {
    this.places[name] = element("p", { class: "problem", id: `${name}-problem`, "aria-live": "polite", hidden: true });
    return this.places[name];
  }

  kindChoice() {
    const labels = this.kinds.map((input) => element("label", { class: "chip" }, input, t(`kind_${input.value}`)));
    const group = this.field("kind", element("fieldset", { class: "chips" }, element("legend", { class: "name" }, t("write_kind")), ...labels));
    group.hidden = KINDS.length < 2;
    return group;
  }

  tagChoice(tag) {
    const field = `tags.${tag.name}`;
    const inputs = tag.choices.map((choice) => element("input", { type: tag.several ? "checkbox" : "radio", name: field, value: choice, onchange: () => this.changed(field) }));
    const labels = inputs.map((input) => element("label", { class: "chip" }, input, input.value));
    const note = t(tag.several ? "write_tag_several" : "write_tag_one") + (tag.needed ? "" : ` ${t("write_optional")}`);
    const root = this.field(field, element("fieldset", { class: "chips" }, element("legend", { class: "name" }, tag.name, " ", element("small", {}, note)), ...labels));
    return { tag, inputs, root };
  }

  get kind() { return this.kinds.find((input) => input.checked)?.value ?? KINDS[0]; }

  get isBlank() {
    const { kind, question, options, reference, evidence } = this.record;
    return [question, kind === "yesno" ? [] : options, reference, evidence].every(isEmpty);
  }

  // What was written, as an item has it.
  get record() {
    const { kind } = this;
    const made = { kind, question: this.question.value.trim(), evidence: this.evidence?.spans ?? [], tags: {} };
    if (this.id) made.id = this.id;
    if (kind === "open") made.reference = this.reference.value.trim();
    else Object.assign(made, this.options.record);
    for (const { tag, inputs } of this.tags) {
      const chosen = inputs.filter((input) => input.checked).map((input) => input.value);
      if (chosen.length) made.tags[tag.name] = tag.several ? chosen : chosen[0];
    }
    return made;
  }

  set record(given) {
    const record = { ...FIRST, kind: this.kind, ...given };
    this.id = record.id ?? "";
    this.question.value = record.question;
    this.reference.value = record.reference ?? "";
    for (const input of this.kinds) input.checked = input.value === record.kind;
    this.options.set(record);
    if (this.evidence) this.evidence.spans = record.evidence;
    for (const { tag, inputs } of this.tags) {
      const chosen = [record.tags[tag.name] ?? []].flat();
      for (const input of inputs) input.checked = chosen.includes(input.value);
    }
    this.touched.clear();
    this.arrange();
    this.showProblems([]);
  }

  // Starts another question of the same kind.
  clear() { this.record = { kind: this.kind }; }

  arrange() {
    const { kind } = this;
    this.part("options").hidden = kind === "open";
    this.part("reference").hidden = kind !== "open";
    this.options.setKind(kind);
  }

  part(name) { return this.root.querySelector(`[data-field="${CSS.escape(name)}"]`); }

  changed(field) {
    this.touched.add(field);
    this.dispatchEvent(new Event("change"));
  }

  // Shows what is wrong beside its field; of fields that nobody has touched only when asked for all.
  showProblems(problems, all = false) {
    const found = {};
    for (const { field, message, level } of problems) {
      const name = this.placeOf(field);
      if (level === "warning" || all || this.touched.has(name)) (found[name] ??= []).push(this.worded(name, message));
    }
    for (const [name, place] of Object.entries(this.places)) {
      place.hidden = !found[name];
      place.textContent = [...new Set(found[name])].join(" ");
      this.part(name)?.classList.toggle("has-problem", Boolean(found[name]));
    }
    return Object.keys(found);
  }

  placeOf(field) {
    const plain = field.replace(/\[.*$/, "");
    return plain in this.places ? plain : "question";
  }

  // What is merely missing, or too few, is said in words of the page.
  worded(name, message) {
    if (name === "answer" && this.options.marksBlank) return t("write_marks_blank");
    if (name === "options" && this.record.options.length && this.record.options.length < this.options.fewest) return t("write_few_options", { fewest: this.options.fewest });
    const text = `write_missing_${name}`;
    return text in data.strings && isEmpty(this.record[name]) ? t(text) : message;
  }

  focus(field = "question") {
    const part = this.part(field === "answer" ? "options" : field);
    part?.querySelector("textarea, input")?.focus();
  }
}
