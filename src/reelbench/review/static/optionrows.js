// The options of a question that is being written: their texts, their order, and the right ones.
import { element, t } from "./api.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MOST_AT_FIRST = 4;

export class OptionRows {
  constructor([fewest, most], onchange) {
    Object.assign(this, { fewest, most, onchange, rows: [], typed: [], several: false });
    this.list = element("ol", { class: "rows" });
    this.more = element("button", { type: "button", onclick: () => { this.add("", false).text.focus(); onchange("options"); } }, t("write_add_option"));
    this.root = element("div", {}, this.list, this.more);
  }

  get record() {
    const written = this.rows.filter((row) => row.text.value.trim() || row.isFixed);
    const answer = written.flatMap((row, place) => (row.key.checked ? [LETTERS[place]] : []));
    return { options: written.map((row) => row.text.value.trim()), answer };
  }

  // Whether an option without a text is marked as right.
  get marksBlank() { return this.rows.some((row) => row.key.checked && !row.isFixed && !row.text.value.trim()); }

  set({ kind, options, answer }) {
    this.several = kind === "multi";
    this.rows = [];
    options.forEach((text, place) => this.add(text, answer.includes(LETTERS[place])));
    this.setKind(kind);
    this.typed = [];
  }

  // Yes/no questions have their two options; the others get some empty ones to begin with.
  setKind(kind) {
    const wasFixed = this.rows.some((row) => row.isFixed);
    this.several = kind === "multi";
    if (kind === "yesno" && !wasFixed) {
      const right = this.rows.findIndex((row) => row.key.checked);
      this.typed = this.rows; // for when the kind is changed back
      this.rows = [];
      [t("write_yes"), t("write_no")].forEach((text, place) => { this.add(text, place === right).isFixed = true; });
    } else if (kind !== "yesno") {
      if (wasFixed) this.rows = this.typed;
      while (this.rows.length < Math.min(this.most, Math.max(this.fewest, MOST_AT_FIRST)) && !this.rows.some((row) => row.text.value)) this.add("", false);
      while (this.rows.length < this.fewest) this.add("", false);
    }
    this.draw();
  }

  add(text, isRight) {
    const row = {};
    row.key = element("input", { type: "radio", name: "key", onchange: () => this.onchange("answer") });
    row.key.checked = isRight;
    row.text = element("input", { type: "text", value: text, maxlength: 5000, autocomplete: "off", dir: "auto", oninput: () => this.onchange("options"), onkeydown: (event) => this.press(event, row) });
    row.up = element("button", { type: "button", class: "plain", onclick: () => this.move(row, -1) }, "↑");
    row.down = element("button", { type: "button", class: "plain", onclick: () => this.move(row, 1) }, "↓");
    row.remove = element("button", { type: "button", class: "plain", onclick: () => this.drop(row) }, "✕");
    this.rows.push(row);
    this.draw();
    return row;
  }

  draw() {
    this.rows.forEach((row, place) => this.drawRow(row, place));
    this.list.replaceChildren(...this.rows.map((row) => row.root));
    this.more.hidden = this.rows.some((row) => row.isFixed) || this.rows.length >= this.most;
  }

  drawRow(row, place) {
    const letter = LETTERS[place];
    row.key.type = this.several ? "checkbox" : "radio";
    row.text.readOnly = Boolean(row.isFixed);
    const labels = [[row.key, "write_right"], [row.text, "write_option"], [row.up, "write_up"], [row.down, "write_down"], [row.remove, "write_remove"]];
    for (const [each, text] of labels) each.setAttribute("aria-label", t(text, { letter }));
    for (const each of [row.key, row.up, row.down, row.remove]) each.title = each.getAttribute("aria-label");
    row.up.disabled = place === 0;
    row.down.disabled = place === this.rows.length - 1;
    row.remove.disabled = this.rows.length <= this.fewest;
    for (const each of [row.up, row.down, row.remove]) each.hidden = Boolean(row.isFixed);
    row.root ??= element("li", {}, element("label", { class: "key" }, row.key, row.letter = element("b", {})), row.text, row.up, row.down, row.remove);
    row.letter.textContent = letter;
  }

  move(row, by) {
    const from = this.rows.indexOf(row);
    const to = from + by;
    if (to < 0 || to >= this.rows.length) return;
    this.rows.splice(to, 0, ...this.rows.splice(from, 1));
    this.draw();
    (by < 0 ? row.up : row.down).focus();
    this.onchange("options");
  }

  drop(row) {
    this.rows.splice(this.rows.indexOf(row), 1);
    this.draw();
    this.onchange("options");
  }

  // Enter goes to the next option, and makes one where there is none.
  press(event, row) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = this.rows[this.rows.indexOf(row) + 1];
    if (next) next.text.focus();
    else if (!this.more.hidden) this.more.click();
  }
}
