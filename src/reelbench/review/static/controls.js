// What one sees of a player: the stage, the timeline, the buttons, each with its key.
import { element, t } from "./api.js";
import { keyName } from "./keys.js";

const SIGNS = ["−", "+", "?"]; // which are their own keys
const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];

// 75.5 as 1:15.500
export function clock(time, digits = 3) {
  const whole = Math.max(0, Math.round(time * 1000) / 1000);
  const seconds = (whole % 60).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
  const minutes = Math.floor(whole / 60);
  const hours = Math.floor(minutes / 60);
  return hours ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
}

export class Controls {
  constructor(player, container) {
    this.player = player;
    this.actions = this.all();
    this.picture = element("div", { class: "picture" });
    this.greyness = element("div", { class: "grey", hidden: true });
    this.notice = element("div", { class: "cover", role: "status", hidden: true });
    this.place = element("input", { type: "range", class: "seek", min: 0, max: 1, step: 1, "aria-label": t("player_position"),
      oninput: () => player.goToFrame(Number(this.place.value)) });
    this.spanMark = element("div", { class: "spanmark", hidden: true });
    this.seen = element("div", { class: "played", "aria-hidden": "true" });
    this.time = element("output", { class: "playhead", "aria-label": t("player_time") });
    this.facts = element("span", { class: "pace" });
    this.root = element("div", { class: "player", role: "group", "aria-label": t("player_title") },
      this.tabs(), element("div", { class: "screen" }, this.picture, this.greyness, this.notice),
      element("div", { class: "seekbar" }, this.seen, this.spanMark, this.place),
      element("div", { class: "reading" }, this.time, this.watching(), this.facts),
      this.moving(), this.spanRow());
    // A click leaves the focus where it is, so that keys go on to work.
    this.root.addEventListener("mousedown", (event) => { if (event.target.closest("button")) event.preventDefault(); });
    container.replaceChildren(this.root);
  }

  all() {
    const { player } = this;
    return {
      play: { keys: [" ", "k"], run: () => player.toggle() },
      back: { keys: [","], run: () => player.step(-1) },
      forward: { keys: ["."], run: () => player.step(1) },
      hopBack: { keys: ["ArrowLeft"], run: () => player.skip(-player.hop) },
      hopForward: { keys: ["ArrowRight"], run: () => player.skip(player.hop) },
      slower: { keys: ["-"], run: () => player.faster(-1) },
      faster: { keys: ["+", "="], run: () => player.faster(1) },
      sound: { keys: ["m"], run: () => player.toggleSound() },
      toStart: { keys: ["Home"], run: () => player.goToStart() },
      toEnd: { keys: ["End"], run: () => player.goToEnd() },
      lock: { keys: ["l"], run: () => player.toggleLock() },
      help: { keys: ["?"], run: () => player.help() },
      setStart: { keys: ["s"], run: () => player.setStart() },
      setEnd: { keys: ["e"], run: () => player.setEnd() },
      startEarlier: { keys: ["a"], run: () => player.moveStart(-1) },
      startLater: { keys: ["d"], run: () => player.moveStart(1) },
      endEarlier: { keys: ["w"], run: () => player.moveEnd(-1) },
      endLater: { keys: ["r"], run: () => player.moveEnd(1) },
    };
  }

  keyGroups() {
    const group = (title, names) => ({ title: t(title), actions: names.map((name) => ({ ...this.actions[name], label: name === "play" ? t("player_play_pause") : t(`player_${name}`) })) });
    const always = group("player_title", ["play", "back", "forward", "hopBack", "hopForward", "slower", "faster", "sound", "toStart", "toEnd", "lock", "help"]);
    const setting = group("player_span", ["setStart", "setEnd", "startEarlier", "startLater", "endEarlier", "endLater"]);
    return this.player.spans ? [always, setting] : [always];
  }

  button(name, sign) {
    const { keys, run } = this.actions[name];
    const label = t(`player_${name}`);
    return element("button", { type: "button", "data-do": name, "aria-label": label, title: `${label} (${keyName(keys[0])})`, "aria-keyshortcuts": keys[0] === " " ? "Space" : keys[0], onclick: run },
      element("span", { "aria-hidden": "true" }, sign), SIGNS.includes(sign) ? null : element("kbd", { "aria-hidden": "true" }, keyName(keys[0])));
  }

  tabs() {
    const { clips } = this.player;
    this.tabButtons = clips.map((_, number) => element("button", { type: "button", onclick: () => this.player.show(number) }, t("player_video", { number: number + 1 })));
    return element("div", { class: "clips", role: "group", "aria-label": t("player_videos"), hidden: clips.length < 2 }, ...this.tabButtons);
  }

  moving() {
    const { player } = this;
    this.playButton = this.button("play", "▶");
    this.playButton.classList.add("primary");
    this.hopField = element("input", { type: "number", class: "hop", min: 0.1, max: 600, step: "any", value: player.hop, "aria-label": t("player_hop"), title: t("player_hop"),
      onchange: () => player.setHop(Number(this.hopField.value)) });
    this.speedField = element("select", { class: "speed", "aria-label": t("player_speed"), title: t("player_speed"), onchange: () => player.setSpeed(Number(this.speedField.value)) },
      ...SPEEDS.map((speed) => element("option", { value: speed }, `${speed}×`)));
    this.soundButton = this.button("sound", t("player_sound_on"));
    this.row = element("div", { class: "controls" }, this.playButton,
      element("span", { class: "joined" }, this.button("back", "◂|"), this.button("forward", "|▸")),
      element("span", { class: "joined" }, this.button("hopBack", "«"), element("label", { class: "hops" }, this.hopField, "s"), this.button("hopForward", "»")),
      element("span", { class: "joined" }, this.button("slower", "−"), this.speedField, this.button("faster", "+")),
      this.soundButton, this.button("help", "?"));
    return this.row;
  }

  spanRow() {
    this.lockButton = this.button("lock", "⟳");
    this.spanText = element("output", { class: "playhead", "aria-label": t("player_span") });
    const around = [this.button("toStart", "⇤"), this.button("toEnd", "⇥"), this.lockButton];
    const start = [this.button("startEarlier", "◂"), this.wordy("setStart"), this.button("startLater", "▸")];
    const end = [this.button("endEarlier", "◂"), this.wordy("setEnd"), this.button("endLater", "▸")];
    this.clearButton = element("button", { type: "button", class: "plain", onclick: () => { this.player.span = null; } }, t("player_clear"));
    const setting = this.player.spans ? [element("span", { class: "joined" }, ...start), element("span", { class: "joined" }, ...end)] : [];
    this.spanControls = element("div", { class: "controls spanning" }, ...setting, element("span", { class: "joined" }, ...around), this.spanText, this.player.spans ? this.clearButton : null);
    return this.spanControls;
  }

  wordy(name) {
    const made = this.button(name, t(`player_${name}`));
    made.removeAttribute("aria-label");
    return made;
  }

  watching() {
    this.watchText = element("span", { class: "watching", hidden: this.player.watch !== "full" });
    return this.watchText;
  }

  // Puts a clip on the stage; those of others stay loaded.
  stage(clip) {
    if (clip?.element && clip.element.parentNode !== this.picture) this.picture.append(clip.element);
    for (const each of this.player.clips) if (each.element) each.element.hidden = each !== clip;
    if (clip?.isTimed) {
      const last = clip.frames ? clip.lastFrame : Math.floor(clip.end / 0.04);
      Object.assign(this.place, { min: clip.firstFrame, max: Math.max(last, clip.firstFrame + 1) });
    }
  }

  grey(isOn) { this.greyness.hidden = !isOn; }

  tell(message) { this.notice.hidden = !message; this.notice.textContent = message; }

  refresh() {
    const { player } = this;
    const { clip } = player;
    if (!clip) { this.disable(true); return; }
    this.tell(clip.status === "ready" ? "" : clip.message ?? t("player_loading"));
    if (clip.status === "preparing" && clip.progress) this.notice.append(element("progress", { max: 1, value: clip.progress }));
    this.tabButtons.forEach((tab, number) => tab.setAttribute("aria-pressed", number === player.current));
    this.disable(!clip.isTimed);
    this.speedField.value = String(player.rate);
    if (!clip.isTimed) this.spanControls.hidden = !player.spans;
    this.watchText.textContent = player.watched ? t("player_watched") : t("player_watch", { percent: Math.floor(player.watchedShare * 100) });
    this.watchText.classList.toggle("done", player.watched);
    if (clip.isTimed) this.refreshTimed(clip);
  }

  refreshTimed(clip) {
    const { player } = this;
    const { frame } = clip;
    this.place.value = frame;
    this.place.setAttribute("aria-valuetext", clock(clip.time));
    const number = clip.frames ? ` · ${t("player_frame", { number: frame, last: clip.frames.count - 1 })}` : "";
    this.time.textContent = `${clock(clip.time)} / ${clock(clip.end)}${number}`;
    this.facts.textContent = clip.frames ? t(clip.facts.variable ? "player_rate_varies" : "player_rate", { rate: Math.round(clip.facts.frame_rate * 1000) / 1000 }) : "";
    this.root.dataset.frame = frame;
    this.playButton.firstChild.textContent = player.isPlaying ? "❚❚" : "▶";
    this.playButton.setAttribute("aria-label", t(player.isPlaying ? "player_pause" : "player_play"));
    this.soundButton.disabled = !clip.facts.has_audio;
    this.soundButton.firstChild.textContent = t(!clip.facts.has_audio ? "player_silent" : player.isMuted ? "player_sound_off" : "player_sound_on");
    if (document.activeElement !== this.hopField) this.hopField.value = player.hop;
    this.drawSpan(clip);
    this.drawSeen(clip);
  }

  drawSpan(clip) {
    const { span, isLocked, spans } = this.player;
    this.spanControls.hidden = !spans && !span;
    this.spanMark.hidden = !span;
    this.spanText.textContent = span ? `${clock(span.start)} – ${clock(span.end)}` : t("player_no_span");
    this.lockButton.disabled = !span;
    this.lockButton.setAttribute("aria-pressed", isLocked);
    this.clearButton.hidden = !span;
    for (const name of ["startEarlier", "startLater", "endEarlier", "endLater"]) {
      const edge = this.root.querySelector(`[data-do=${name}]`);
      if (edge) edge.disabled = !span || !clip.frames;
    }
    if (span) this.lay(this.spanMark, clip, span.start, span.end);
  }

  drawSeen(clip) {
    const key = JSON.stringify([clip.question, clip.played]);
    if (this.player.watch !== "full" || key === this.seenKey) return;
    this.seenKey = key;
    this.seen.replaceChildren(...clip.played.map(([from, to]) => {
      const part = element("i");
      this.lay(part, clip, from, to);
      return part;
    }));
  }

  lay(part, clip, from, to) {
    const length = Math.max(0.001, clip.end - clip.start);
    const share = (time) => Math.min(Math.max((time - clip.start) / length, 0), 1) * 100;
    part.style.left = `${share(from)}%`;
    part.style.width = `${Math.max(0.3, share(to) - share(from))}%`;
  }

  disable(isOff) {
    this.place.disabled = isOff;
    for (const each of this.root.querySelectorAll(".controls button, .controls input, .controls select")) each.disabled = isOff && each.dataset.do !== "help";
  }

  destroy() { this.root.remove(); }
}
