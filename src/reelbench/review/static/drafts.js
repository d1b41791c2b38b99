// What someone has typed and not sent: kept in this browser at once, and by the server soon after.
import { call, data, itemPath } from "./api.js";

const DELAY = 800; // milliseconds without a further change

export class Draft {
  constructor(task) {
    this.task = task;
    this.key = `reelbench draft ${data.person} ${task.queue} ${task.item}`;
    const found = [this.local(), task.draft].filter((each) => each?.value);
    this.value = found.sort((a, b) => b.at - a.at)[0]?.value ?? {};
  }

  local() {
    try {
      return JSON.parse(localStorage.getItem(this.key));
    } catch {
      return null;
    }
  }

  keep(value) {
    this.value = value;
    const kept = { at: Date.now(), value };
    try {
      localStorage.setItem(this.key, JSON.stringify(kept));
    } catch { /* The server keeps it. */ }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(kept), DELAY);
  }

  // A draft that does not reach the server is still in this browser.
  send(kept) {
    call("PUT", itemPath("draft", this.task.item), kept).catch(() => {});
  }

  // The server drops its copy when it has the action.
  forget() {
    clearTimeout(this.timer);
    localStorage.removeItem(this.key);
  }
}
