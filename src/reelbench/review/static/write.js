// The page where people write questions about videos.
import { call, data, element, itemPath, t, Unreachable } from "./api.js";
import { QuestionForm } from "./question.js";
import { keyHint, pageKeys, setKeys } from "./shortcuts.js";
import { Player } from "./player.js";
import { notice, Work } from "./work.js";
import { questionCard, writtenList } from "./writtenlist.js";

const { protocol } = data;
const TYPING = 450; // milliseconds without a change, after which what was typed is checked

// One video, or pair, with the question that is being written about it.
class WritePage {
  constructor(work, place) {
    this.work = work;
    const { queue, item, media } = work.task;
    const viewing = element("div", { class: "viewing" });
    this.player = new Player(viewing, { queue, item, media, watch: protocol.watch, gap: protocol.gap, pairs: protocol.pairs, spans: true, keys: [pageKeys], watched: Boolean(work.state.watched) });
    this.form = new QuestionForm(this.player, { pairs: media.length > 1 });
    this.heading = element("h2", { tabindex: "-1" });
    this.saveButton = this.action("write_save", "Ctrl + Enter", () => this.save(), "primary sends");
    this.cancelButton = element("button", { type: "button", onclick: () => this.cancel() }, t("write_cancel"));
    this.unwatched = element("p", { class: "note", hidden: true }, t("write_watch_first"));
    this.list = element("div");
    this.advice = element("p", { class: "note", hidden: true });
    const writing = element("section", { class: "card panel" }, this.heading, this.form.root, this.unwatched, element("div", { class: "buttons" }, this.saveButton, this.cancelButton));
    const others = element("section", { class: "card" }, element("h2", {}, t("write_written")), this.advice, this.list,
      element("div", { class: "buttons" }, this.action("write_next", "N", () => this.finish(), "sends"),
        work.task.previous && element("button", { type: "button", onclick: () => this.goBack() }, t("write_previous"))));
    place.replaceChildren(element("div", { class: "split" }, viewing, element("div", { class: "writing" }, writing, others)));
    this.restore();
    this.listen();
    this.draw();
  }

  action(text, key, run, kind = "") {
    return element("button", { type: "button", class: kind, onclick: run }, t(text), keyHint(key));
  }

  listen() {
    this.form.addEventListener("change", () => this.changed());
    this.player.addEventListener("watched", () => { this.work.keep({ watched: true }); this.draw(); });
    setKeys([
      { keys: ["Enter"], ctrl: true, shown: "Enter", label: t("write_save"), run: () => this.save() },
      { keys: ["n"], shown: "N", label: t("write_next"), run: () => this.finish() },
      { keys: ["Escape"], shown: "Esc", label: t("write_leave_field"), run: () => document.activeElement?.blur() },
    ]);
  }

  // What was typed before, in this tab or another.
  restore() {
    const { record } = this.work.state;
    if (!record) return;
    this.form.record = record;
    notice("done", t("write_restored"));
  }

  get watched() { return this.player.watched; }

  get isWatchedEnough() { return protocol.watch !== "full" || this.watched; }

  changed() {
    this.work.keep({ record: this.form.record });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), TYPING);
    this.draw();
  }

  // Asks the server what is wrong; returns the fields, or null where it does not answer.
  async check(all = false) {
    clearTimeout(this.timer);
    const asked = this.asked = Symbol("check");
    try {
      const { problems } = await call("POST", itemPath("check", this.work.task.item), this.form.record);
      if (this.asked !== asked) return null;
      this.form.showProblems(problems, all);
      return problems.filter((each) => each.level === "error").map((each) => this.form.placeOf(each.field));
    } catch (error) {
      if (!(error instanceof Unreachable)) notice("warning", error.message);
      return null;
    }
  }

  async save() {
    if (!this.isWatchedEnough || this.saveButton.disabled || this.isSaving) return;
    this.isSaving = true; // pressed twice, it is saved once
    try {
      const wrong = await this.check(true);
      if (wrong?.length) { this.form.focus(wrong[0]); return; }
      const saved = await this.work.submit("wrote", { item: this.form.record, watched: this.watched }, { needsReply: true });
      if (saved) await this.startAnother();
    } finally {
      this.isSaving = false;
    }
  }

  // What was saved is in the list; the next question is about the same video.
  async startAnother() {
    const { watched } = this;
    this.form.clear();
    this.work.state.record = null;
    this.work.keep({ watched });
    await this.reload();
    this.form.focus();
  }

  async reload() {
    const { task } = this.work;
    try {
      const fresh = (await call("GET", itemPath("task", task.item))).task;
      Object.assign(task, { written: fresh.written, seen: fresh.seen });
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
    this.draw();
  }

  edit(written) {
    if (!this.form.isBlank && !window.confirm(t("write_replace"))) return;
    this.form.record = written;
    this.changed();
    this.form.focus();
  }

  cancel() {
    this.form.clear();
    this.work.keep({ record: null });
    this.draw();
  }

  async withdraw(written) {
    if (!window.confirm(t("write_withdraw_sure", { question: written.question }))) return;
    const record = this.form.isBlank || this.form.id === written.id ? null : this.form.record;
    const { watched } = this;
    const saved = await this.work.submit("withdrew", { id: written.id, watched: watched || undefined }, { needsReply: true });
    if (!saved) return;
    if (this.form.id === written.id) this.form.clear();
    this.work.keep({ record, watched });
    await this.reload();
  }

  async finish() {
    if (!this.form.isBlank && !window.confirm(t("write_unsaved"))) return;
    const { watched } = this;
    const done = await this.work.submit("finished", watched ? { watched } : {});
    if (done) await this.work.next();
  }

  // To the video that one was done with before; what is typed here stays.
  async goBack() {
    this.work.open((await call("GET", itemPath("task", this.work.task.previous))).task);
  }

  draw() {
    this.heading.textContent = t(this.form.id ? "write_editing" : "write_new");
    this.cancelButton.hidden = !this.form.id && this.form.isBlank;
    this.unwatched.hidden = this.isWatchedEnough;
    this.saveButton.disabled = !this.isWatchedEnough;
    const { written } = this.work.task;
    this.list.replaceChildren(writtenList(written, { onedit: (each) => this.edit(each), onwithdraw: (each) => this.withdraw(each) }));
    this.advise(written.length);
  }

  // How many questions a video of this length should have: advice, never a refusal.
  advise(count) {
    const { fewest = 0 } = this.work.task;
    this.advice.hidden = !fewest;
    this.advice.textContent = t("write_advice", { least: fewest, count });
    this.advice.classList.toggle("is-right", count >= fewest);
  }

  destroy() {
    clearTimeout(this.timer);
    this.player.destroy();
  }
}

// Others wrote about the same video meanwhile: the writer sees what, and decides.
function conflict(work, error) {
  work.task.seen = Math.max(...error.events.map((event) => event.seq));
  const { record } = work.state;
  const theirs = error.events.filter((event) => event.type === "wrote");
  const cards = theirs.map((event) => questionCard({ ...event.body.item, author: event.who }));
  const again = element("button", { type: "button", class: "primary", onclick: () => { card.remove(); page.save(); } }, t("write_save_mine"));
  const card = notice("warning", error.message, element("ul", { class: "plain-list" }, ...cards),
    element("div", { class: "buttons" }, again, element("button", { type: "button", onclick: () => card.remove() }, t("write_keep_editing"))));
  work.keep({ record });
  page.reload().catch(() => {}); // the button works at once
}

// What is wrong with a question is shown beside its fields.
class WritingWork extends Work {
  async refused(error) {
    if (error.status === 422 && error.problems?.length) page.form.showProblems(error.problems, true);
    return super.refused(error);
  }
}

let page = null;
const work = new WritingWork({
  show(opened, place) {
    page = new WritePage(opened, place);
    return () => page.destroy();
  },
  conflict,
});
work.start();
