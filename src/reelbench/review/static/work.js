// What the pages of a queue have in common: the next item, one more in hand for when the server does
// not answer, drafts, time spent, and what is said when an item has changed meanwhile.
import { call, data, element, itemPath, nextTask, queuePath, Refused, save, sendLeftovers, showRefused, t, tellUnreachable, textsIn, Unreachable, unsent } from "./api.js";
import { fetchMedia, release } from "./ahead.js";
import { itemDiff } from "./diff.js";
import { Draft } from "./drafts.js";
import "./instructions.js";
import { setKeys } from "./shortcuts.js";
import { Stopwatch } from "./stopwatch.js";

const place = document.getElementById("work");
const notices = document.getElementById("notices");
const RETRY = 2000; // milliseconds

// Runs a queue: show(work) draws work.task and returns what is to be taken down before the next.
// conflict(work, error) is asked when others did something; ending() is shown when nothing is left.
export class Work {
  constructor({ show, conflict = null, ending = null }) {
    Object.assign(this, { show, conflict, ending });
    this.task = this.ahead = null;
    this.takeDown = () => {};
    place.addEventListener("click", onlyOnce, true);
    // Seconds go on after the last word that was typed.
    window.addEventListener("pagehide", () => { if (this.isTouched) this.keep({}); });
  }

  async start() {
    const sent = sendLeftovers();
    if (unsent()) await Promise.race([sent, later(RETRY)]);
    return this.next();
  }

  // Goes on to the next item; with the one in hand where the server does not answer.
  async next() {
    this.isLeaving = true;
    for (;;) {
      try {
        const task = await nextTask();
        return task ? this.open(this.withMedia(task)) : this.end();
      } catch (error) {
        if (error instanceof Refused) return this.message(error.message);
        if (!(error instanceof Unreachable)) throw error;
        tellUnreachable(error);
        if (this.ahead) return this.openAhead();
        this.message(t("work_waits"));
        await later(RETRY);
      }
    }
  }

  // The videos of the item in hand are there already.
  withMedia(task) {
    const { ahead } = this;
    this.ahead = null;
    if (ahead?.item === task.item && ahead.digest === task.digest) return { ...task, media: ahead.media };
    release(ahead);
    return task;
  }

  openAhead() {
    const task = this.ahead;
    this.ahead = null;
    this.open(task);
  }

  // Shows an item; what was typed about it before is in work.state.
  open(task) {
    this.close();
    this.isLeaving = false;
    if (this.task?.item !== task.item) release(this.task);
    this.task = task;
    this.draft = new Draft(task);
    this.state = this.draft.value;
    this.isTouched = false;
    this.stopwatch = new Stopwatch(document.getElementById("timer"), this.state.seconds ?? 0);
    showProgress(task.progress);
    notices.replaceChildren();
    place.removeAttribute("data-ahead");
    place.replaceChildren();
    this.takeDown = this.show(this, place) ?? (() => {});
    place.querySelector("h1, h2")?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    if (!task.done) this.lookAhead();
  }

  close() {
    this.takeDown();
    this.takeDown = () => {};
    this.stopwatch?.stop();
    setKeys([]);
  }

  async lookAhead() {
    const { task } = this;
    if (this.ahead && this.ahead.item !== task.item) return;
    this.ahead = null;
    try {
      const ahead = await nextTask(task.item);
      if (!ahead || this.task !== task) return;
      this.ahead = ahead;
      await fetchMedia(ahead, () => this.ahead === ahead);
      place.toggleAttribute("data-ahead", this.ahead === ahead);
    } catch { /* There is none today, or the server is away: then we wait. */ }
  }

  // Keeps what was typed so far.
  keep(changed) {
    if (!this.task) return;
    this.isTouched = true;
    Object.assign(this.state, changed, { digest: this.task.digest, seconds: this.stopwatch.seconds });
    this.draft.keep(this.state);
  }

  // Saves an action about the item and returns what the server answers; null where it does not
  // answer now and the page has gone on, or where it refused and has said so. What needs no reply
  // is left to be sent later when there is another item in hand. Who presses twice has acted once.
  async submit(type, body, { needsReply = false } = {}) {
    const { task, draft } = this;
    if (this.isLeaving || this.sending === task) return null;
    if (data.protocol.watch === "full" && body.watched === false) {
      notice("warning", t("watch_first"));
      return null;
    }
    const full = { ...body, seconds: this.stopwatch.seconds };
    let goOn;
    const kept = new Promise((resolve) => { goOn = resolve; });
    clearTimeout(draft.timer);
    this.isTouched = false;
    this.sending = task;
    setBusy(true);
    const sent = save(task, type, full, { onkept: () => goOn(true) });
    sent.then(() => draft.forget(), () => {});
    const waits = await Promise.race([sent.then(() => false, () => false), kept]);
    if (waits && needsReply) this.offerAhead(sent);
    if (waits && !needsReply) {
      this.leave(sent, draft);
      return null;
    }
    try {
      const saved = await sent;
      return this.task === task ? saved : null;
    } catch (error) {
      if (this.task === task) await this.refused(error);
      else showRefused(error);
      return null;
    } finally {
      if (this.sending === task) this.sending = null;
      if (this.task === task) setBusy(false);
    }
  }

  // Goes on while what was done waits in this browser.
  leave(sent, draft) {
    draft.forget();
    sent.catch(showRefused);
    setBusy(false);
    if (this.ahead) this.openAhead();
    else {
      this.close();
      this.message(t("work_waits"));
      sent.finally(() => this.next()).catch(() => {});
    }
  }

  // The reply is needed here, but another item can be looked at meanwhile.
  offerAhead(sent) {
    if (!this.ahead) return;
    const go = element("button", { type: "button", onclick: () => { setBusy(false); this.openAhead(); } }, t("work_other_item"));
    const card = notice("waiting", t("work_needs_reply"), go);
    sent.finally(() => card.remove()).catch(() => {});
  }

  async refused(error) {
    if (error.status === 410) return this.changed(error);
    if (error.status === 409 && this.conflict) return this.conflict(this, error);
    // What one cannot put right here, such as an item that was done in another tab, is left.
    const go = element("button", { type: "button", onclick: () => this.next() }, t("work_other_item"));
    notice("warning", error.message, error.problems?.length ? null : go);
  }

  // The item was edited or deleted: says so, and keeps what was typed.
  async changed(error) {
    const before = this.task;
    try {
      const { task } = await call("GET", itemPath("task", before.item));
      this.open({ ...task, draft: { at: Date.now(), value: this.state } });
      const diff = itemDiff(before, { question: task.question, options: task.options });
      notice("warning", t("item_edited"), diff ?? "");
    } catch (gone) {
      if (!(gone instanceof Refused)) throw gone;
      const typed = textsIn({ ...this.state, digest: "" }).join("\n");
      this.draft.forget();
      this.message(t("item_gone"));
      notice("warning", error.message, typed && element("div", {}, t("item_typed"), element("pre", {}, typed)));
    }
  }

  end() {
    this.close();
    this.task = null;
    this.isLeaving = false;
    showProgress(null);
    notices.replaceChildren();
    place.replaceChildren(this.ending ? this.ending() : card(t("work_done"), toStart()));
  }

  message(text) {
    this.close();
    this.task = null;
    this.isLeaving = false;
    const next = element("button", { type: "button", class: "primary", onclick: () => this.next() }, t("work_try"));
    place.replaceChildren(card(text, element("p", {}, next, " ", toStart())));
  }
}

// The second click of a double-click would be on what the first one brought.
function onlyOnce(event) {
  if (event.detail > 1 && event.target.closest("button.sends")) event.stopPropagation();
}

export const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const card = (text, ...rest) => element("section", { class: "card narrow" }, element("p", { role: "status" }, text), ...rest);
export const toStart = () => element("a", { href: "/" }, t("to_start"));

// Says something above the work until it is put away.
export function notice(kind, text, ...rest) {
  const made = element("div", { class: `message is-${kind}`, role: "alert" }, element("p", {}, text), ...rest,
    element("button", { type: "button", class: "plain", onclick: () => made.remove() }, t("put_away")));
  notices.replaceChildren(made);
  made.scrollIntoView({ block: "nearest" });
  return made;
}

export function setBusy(busy) {
  for (const button of place.querySelectorAll("button.sends")) button.disabled = busy;
  place.toggleAttribute("aria-busy", busy);
}

// How far one is in the queue; where there is no item, nothing is shown.
export function showProgress(progress) {
  for (const part of document.querySelectorAll(".bar .far, .bar .time")) part.hidden = !progress;
  if (!progress) return;
  const { done, left, today } = progress;
  const bar = document.getElementById("progress");
  bar.max = Math.max(1, done + left);
  bar.value = done;
  const most = data.protocol.per_day;
  document.getElementById("count").textContent =
    t("progress", { done, all: done + left }) + (most ? ` · ${t("home_today", { today, most })}` : "");
}

// What others have in discussion with us.
export const discussions = async () => (await call("GET", queuePath("discussions"))).items;
