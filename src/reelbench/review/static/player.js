// The player of all pages: videos, pairs of them, sounds and images, moved through frame by frame.
//
//   const player = new Player(container, { queue, item, media, watch, gap, pairs });
//
// More that may be said: `spans: true` lets people set a span; `keys` is a list of groups of keys
// of the page's own, for the same listener and help panel (see keys.js); `watched: true` where that
// is known from before. Events: "ready", "watched", "span", "failed".
import { element, t } from "./api.js";
import { Clip } from "./clip.js";
import { Controls } from "./controls.js";
import { Keys } from "./keys.js";

const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const rounded = (time) => Math.round(time * 1000) / 1000;

function remembered(name, usual) {
  const kept = JSON.parse(localStorage.getItem(`reelbench ${name}`) ?? "null");
  return typeof kept === typeof usual ? kept : usual;
}
const remember = (name, value) => localStorage.setItem(`reelbench ${name}`, JSON.stringify(value));

export class Player extends EventTarget {
  constructor(container, { queue, item, media = [], watch = "", gap = 0, pairs = false, spans = false, keys = [], watched = false }) {
    super();
    Object.assign(this, { watch, gap, spans, wasWatched: watched, isPair: pairs && media.length === 2 });
    this.clips = media.map((medium, number) => new Clip(queue, item, number, medium));
    this.current = 0;
    this.rate = remembered("speed", 1);
    this.hop = remembered("hop", 5);
    this.isMuted = remembered("muted", false);
    this.isLocked = false;
    this.kept = null; // the span
    this.controls = new Controls(this, container);
    this.keys = new Keys([...this.controls.keyGroups(), ...keys]);
    if (!media.length) this.controls.tell(t("player_no_media"));
    this.clips.forEach((clip, number) => this.load(clip, number));
    this.show(0);
    this.tick();
  }

  load(clip, number) {
    clip.addEventListener("begun", () => this.controls.refresh());
    clip.addEventListener("failed", (event) => { this.controls.refresh(); this.fail(clip, event.detail); });
    clip.load((found) => {
      clip.message = found.message || t("player_preparing", { percent: Math.round(found.progress * 100) });
      clip.progress = found.progress;
      if (found.status === "failed") this.fail(clip, t("player_failed", { reason: found.message }));
      else if (number === this.current && found.status === "preparing") this.controls.refresh();
      if (found.status === "ready") queueMicrotask(() => this.welcome(number));
    });
  }

  welcome(number) {
    if (number === this.current) this.show(number);
    this.dispatchEvent(new Event("ready"));
  }

  fail(clip, message) {
    clip.message = message;
    this.controls.refresh();
    this.dispatchEvent(new CustomEvent("failed", { detail: message }));
  }

  get clip() { return this.clips[this.current]; }

  // Whether all was really played; what was skipped does not count.
  get watched() { return this.wasWatched || this.clips.every((clip) => clip.watched); }

  get watchedShare() { return this.clips.length ? this.clips.reduce((sum, clip) => sum + clip.share, 0) / this.clips.length : 1; }

  get playedSeconds() { return this.clips.reduce((sum, clip) => sum + clip.seconds, 0); }

  get currentTime() { return this.clip?.time ?? 0; }

  set currentTime(time) { this.clip?.seek(time); this.controls.refresh(); }

  get frame() { return this.clip?.frame ?? 0; }

  get isPlaying() { return Boolean(this.inGap || this.clip?.isPlaying); }

  // { start, end } in seconds of the file, or null.
  get span() { return this.kept && { ...this.kept }; }

  set span(span) {
    this.kept = span && span.end > span.start ? { start: rounded(span.start), end: rounded(span.end) } : null;
    if (!this.kept) this.isLocked = false;
    this.controls.refresh();
    this.dispatchEvent(new Event("span"));
  }

  // Puts one of the clips on the stage.
  show(number) {
    this.stopGap();
    this.clip?.isTimed && this.clip.pause();
    this.current = number;
    const { clip } = this;
    if (clip?.isTimed) Object.assign(clip.element, { playbackRate: this.rate, muted: this.isMuted });
    this.controls.stage(clip);
    this.controls.refresh();
  }

  toggle() { return this.isPlaying ? this.pause() : this.play(); }

  async play() {
    if (!this.clip?.isTimed) return;
    if (this.isPair && this.current === 1 && this.clip.isAtEnd) this.show(0);
    const { clip } = this;
    if (this.isLocked) this.enterSpan();
    else if (clip.isAtEnd) clip.seek(clip.start);
    Object.assign(clip.element, { playbackRate: this.rate, muted: this.isMuted });
    await clip.play();
    this.controls.refresh();
  }

  pause() {
    this.stopGap();
    if (this.clip?.isTimed) this.clip.pause();
    this.controls.refresh();
  }

  step(frames) {
    if (!this.clip?.isTimed) return;
    this.pause();
    this.clip.goTo(this.clip.frame + frames);
    this.controls.refresh();
  }

  skip(seconds) {
    if (!this.clip?.isTimed) return;
    this.clip.seek(this.clip.time + seconds);
    this.controls.refresh();
  }

  goToFrame(frame) { this.pause(); this.clip?.goTo(frame); this.controls.refresh(); }

  setSpeed(rate) {
    this.rate = rate;
    remember("speed", rate);
    if (this.clip?.isTimed) this.clip.element.playbackRate = rate;
    this.controls.refresh();
  }

  faster(places) {
    const place = SPEEDS.indexOf(this.rate) < 0 ? SPEEDS.indexOf(1) : SPEEDS.indexOf(this.rate);
    this.setSpeed(SPEEDS[Math.min(Math.max(place + places, 0), SPEEDS.length - 1)]);
  }

  setHop(seconds) { if (seconds > 0) { this.hop = seconds; remember("hop", seconds); } this.controls.refresh(); }

  toggleSound() {
    this.isMuted = !this.isMuted;
    remember("muted", this.isMuted);
    if (this.clip?.isTimed) this.clip.element.muted = this.isMuted;
    this.controls.refresh();
  }

  // Playing is kept within the span, again and again.
  toggleLock() {
    this.isLocked = !this.isLocked && Boolean(this.kept);
    if (this.isLocked && this.isPlaying) this.enterSpan();
    this.controls.refresh();
  }

  enterSpan() {
    const { clip, kept } = this;
    if (clip.time < kept.start - 0.001 || clip.time >= kept.end - 0.05) clip.seek(kept.start);
  }

  // A span begins with the frame on the screen, or ends when that frame does.
  setStart() {
    if (!this.clip?.isTimed) return;
    const start = this.clip.time;
    const end = this.kept && this.kept.end > start ? this.kept.end : this.clip.end;
    this.span = { start, end };
  }

  setEnd() {
    if (!this.clip?.isTimed) return;
    const end = this.clip.frames ? this.clip.frames.end(this.clip.frame) : this.clip.time;
    const start = this.kept && this.kept.start < end ? this.kept.start : this.clip.start;
    this.span = { start, end };
  }

  // Moves an edge by frames, and shows the frame that is now the outermost.
  moveStart(by) {
    if (!this.kept || !this.clip?.frames) return;
    const { frames, firstFrame } = this.clip;
    const last = frames.ending(this.kept.end);
    const frame = Math.min(Math.max(frames.nearest(this.kept.start) + by, firstFrame), last);
    this.span = { ...this.kept, start: frames.start(frame) };
    this.goToFrame(frame);
  }

  moveEnd(by) {
    if (!this.kept || !this.clip?.frames) return;
    const { frames, lastFrame } = this.clip;
    const frame = Math.max(Math.min(frames.ending(this.kept.end) + by, lastFrame), frames.nearest(this.kept.start));
    this.span = { ...this.kept, end: frames.end(frame) };
    this.goToFrame(frame);
  }

  goToStart() { this.pause(); this.clip?.seek(this.kept ? this.kept.start : this.clip.start); this.controls.refresh(); }

  goToEnd() {
    const { clip } = this;
    if (!clip?.isTimed) return;
    this.pause();
    const end = this.kept ? this.kept.end : clip.end;
    if (clip.frames) clip.goTo(clip.frames.ending(end));
    else clip.seek(end);
    this.controls.refresh();
  }

  help() { this.keys.help(); }

  // Follows what plays: notes what was seen, and stops where it must.
  tick() {
    if (this.isGone) return;
    requestAnimationFrame(() => this.tick());
    const { clip } = this;
    if (!clip?.isTimed || this.inGap) return;
    const { ended } = clip.element;
    if (!clip.isPlaying && !(ended && this.wasPlaying)) { this.wasPlaying = false; return; }
    this.wasPlaying = clip.isPlaying;
    clip.note();
    if (this.watched && !this.hasTold) { this.hasTold = true; this.dispatchEvent(new Event("watched")); }
    const time = clip.element.currentTime;
    if (this.isLocked && this.kept && (ended || time >= this.kept.end - 0.005)) this.again();
    else if (ended || time >= clip.end - 0.005) this.finishClip();
    this.controls.refresh();
  }

  async again() {
    this.clip.seek(this.kept.start);
    if (!this.clip.isPlaying) await this.clip.play();
  }

  finishClip() {
    this.clip.pause();
    this.wasPlaying = false;
    if (this.isPair && this.current === 0) this.startGap();
  }

  // The grey between two videos.
  startGap() {
    this.inGap = true;
    this.controls.grey(true);
    this.gapTimer = setTimeout(() => {
      this.show(1);
      this.clip.seek(this.clip.start);
      this.play();
    }, this.gap * 1000);
    this.controls.refresh();
  }

  stopGap() {
    clearTimeout(this.gapTimer);
    this.inGap = false;
    this.controls.grey(false);
  }

  destroy() {
    this.isGone = true;
    this.stopGap();
    this.keys.destroy();
    this.clips.forEach((clip) => clip.destroy());
    this.controls.destroy();
  }
}
