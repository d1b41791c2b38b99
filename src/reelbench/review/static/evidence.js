// The spans that show the answer: what is set in the player is the one that is chosen here.
import { element, t } from "./api.js";
import { clock } from "./controls.js";

export class EvidenceList {
  constructor(player, onchange) {
    Object.assign(this, { player, onchange, list: [], chosen: 0 });
    this.rows = element("ul", { class: "rows" });
    this.more = element("button", { type: "button", onclick: () => { this.chosen = this.list.length; player.span = null; this.draw(); } }, t("write_add_evidence"));
    this.root = element("div", {}, this.rows, this.more);
    player.addEventListener("span", () => this.take(player.span));
    this.draw();
  }

  get spans() { return this.list.map(({ start, end }) => [start, end]); }

  set spans(spans) {
    this.list = spans.map(([start, end]) => ({ start, end }));
    this.chosen = 0;
    this.isTaking = true;
    this.player.span = this.list[0] ?? null;
    this.isTaking = false;
    this.draw();
  }

  // The player's span has changed.
  take(span) {
    if (this.isTaking) return;
    const before = JSON.stringify(this.list);
    if (span) this.list[this.chosen] = span;
    else if (this.chosen < this.list.length) this.list.splice(this.chosen, 1);
    this.draw();
    if (JSON.stringify(this.list) !== before) this.onchange();
  }

  choose(place) {
    this.chosen = place;
    this.player.span = this.list[place];
    this.player.goToStart();
    this.draw();
  }

  drop(place) {
    this.list.splice(place, 1);
    this.isTaking = true;
    this.chosen = Math.max(0, Math.min(this.chosen, this.list.length - 1));
    this.player.span = this.list[this.chosen] ?? null;
    this.isTaking = false;
    this.draw();
    this.onchange();
  }

  draw() {
    const rows = this.list.map(({ start, end }, place) => {
      const text = `${clock(start)} – ${clock(end)}`;
      return element("li", {},
        element("button", { type: "button", class: "span", "aria-pressed": String(place === this.chosen), title: t("write_go_to_evidence"), onclick: () => this.choose(place) }, text),
        element("button", { type: "button", class: "plain", "aria-label": t("write_remove_evidence", { span: text }), title: t("write_remove_evidence", { span: text }), onclick: () => this.drop(place) }, "✕"));
    });
    this.rows.replaceChildren(...rows);
    if (!rows.length) this.rows.replaceChildren(element("li", { class: "note" }, t("write_no_evidence")));
    this.more.hidden = this.chosen >= this.list.length;
  }
}
