// One video, sound or image of an item: fetched, shown, moved through frame by frame.
import { call, element, t, Unreachable } from "./api.js";
import { FrameTimes } from "./frames.js";
import { added, covered } from "./ranges.js";

const ENOUGH = 0.98; // of a window that was really played, to count as watched
const STEP = 0.04; // seconds that count as one frame where there are no frames
const ROUNDED = 0.001; // seconds by which a time that was kept may lie before its frame

// A server that is away is asked again; what it refuses is not.
const unanswered = (error) => (error instanceof Unreachable
  ? { status: "preparing", progress: 0, message: t("player_loading") }
  : { status: "failed", progress: 0, message: error.message });

export class Clip extends EventTarget {
  constructor(queue, item, number, medium) {
    super();
    const place = `${encodeURIComponent(queue)}/${number}?item=${encodeURIComponent(item)}`;
    this.address = `/media/${place}`;
    this.question = `/api/media/${place}`;
    this.medium = medium;
    this.status = "preparing";
    this.frames = null;
    this.memory = `reelbench played ${queue} ${item} ${number}`;
    this.played = JSON.parse(sessionStorage.getItem(this.memory) ?? "[]");
    this.chosen = null; // the frame that was gone to, until playing goes on
  }

  // Asks until the file can be played; ``tell`` hears of each answer.
  async load(tell) {
    for (;;) {
      const found = this.medium.fetched?.facts ?? await call("GET", this.question).catch(unanswered);
      if (this.gone) return;
      this.status = found.status;
      tell(found);
      if (found.status !== "preparing") {
        if (found.status === "ready") this.show(found);
        return;
      }
      await new Promise((resolve) => { setTimeout(resolve, 700); });
    }
  }

  show(found) {
    this.facts = found;
    this.kind = found.kind;
    const names = { video: "video", sound: "audio", image: "img" };
    const name = this.medium.name ?? "";
    this.element = element(names[found.kind], { src: this.medium.fetched?.address ?? this.address, preload: "auto", playsinline: true, "aria-label": name, alt: name });
    if (found.kind === "video") this.frames = new FrameTimes(found);
    this.start = Math.max(0, this.medium.start ?? 0);
    this.end = Math.min(this.medium.end ?? Infinity, this.frames?.last ?? found.duration);
    this.firstFrame = this.frames?.nearest(this.start) ?? 0;
    this.lastFrame = this.frames?.ending(this.end) ?? 0;
    if (this.kind === "image") return;
    this.element.addEventListener("error", () => {
      this.status = "failed";
      this.dispatchEvent(new CustomEvent("failed", { detail: t("player_browser_cannot") }));
    });
    this.element.addEventListener("ended", () => this.note());
    this.element.addEventListener("loadedmetadata", () => {
      if (this.start > 0) this.seek(this.start);
      this.dispatchEvent(new Event("begun")); // the controls show where the part begins
    }, { once: true });
    // What plays in a tab that nobody sees is not watched.
    this.listener = () => this.note();
    document.addEventListener("visibilitychange", this.listener);
    this.watchFrames();
  }

  // Learns from the browser which frame it has put on the screen.
  watchFrames() {
    if (!this.element.requestVideoFrameCallback) return;
    const next = (_, { mediaTime }) => {
      this.shown = mediaTime;
      if (!this.gone) this.element.requestVideoFrameCallback(next);
    };
    this.element.requestVideoFrameCallback(next);
  }

  get isTimed() { return this.status === "ready" && this.kind !== "image"; }

  get isPlaying() { return this.isTimed && !this.element.paused; }

  get isAtEnd() {
    return this.element.ended || (this.frames ? this.frame >= this.lastFrame : this.time >= this.end - STEP);
  }

  get time() {
    if (!this.isTimed) return 0;
    return this.frames && !this.isPlaying ? this.frames.start(this.frame) : this.element.currentTime;
  }

  // The number of the frame on the screen, counted from 0.
  get frame() {
    if (!this.frames) return Math.round((this.element?.currentTime ?? 0) / STEP);
    if (this.chosen !== null) return this.chosen;
    if (this.isPlaying && this.shown !== undefined) return this.frames.nearest(this.shown);
    return this.frames.at(this.element.currentTime);
  }

  goTo(frame) {
    if (!this.isTimed) return;
    if (!this.frames) { this.seek(frame * STEP); return; }
    const wanted = Math.min(Math.max(frame, this.firstFrame), this.lastFrame);
    this.chosen = this.isPlaying ? null : wanted;
    this.jump(this.frames.middle(wanted), this.frames.start(wanted));
  }

  seek(time) {
    if (!this.isTimed) return;
    const inside = Math.min(Math.max(time, this.start), this.end);
    if (this.frames) this.goTo(this.frames.at(inside + ROUNDED));
    else this.jump(inside);
  }

  // What is passed over was not played: noting goes on from there.
  jump(time, since = time) {
    this.note();
    this.since = since;
    this.element.currentTime = time;
  }

  async play() {
    this.since = this.time; // of the start of the frame on the screen
    this.chosen = null;
    this.runs = true;
    await this.element.play().catch(() => {});
  }

  // Stops at the frame on the screen, which is not always the one that the clock has reached.
  pause() {
    if (!this.isPlaying) return;
    const frame = this.frame;
    this.note();
    this.runs = false;
    this.element.pause();
    if (this.frames) this.goTo(frame);
  }

  // Keeps what was played since the last time: called again and again while it plays.
  note() {
    const { currentTime, ended, paused, seeking } = this.element;
    if (seeking) return;
    const isSeen = this.runs && !document.hidden && (!paused || ended);
    if (isSeen && currentTime > this.since) {
      this.played = added(this.played, this.since, currentTime);
      sessionStorage.setItem(this.memory, JSON.stringify(this.played));
    }
    this.since = isSeen ? currentTime : undefined;
    this.runs &&= !ended;
  }

  get seconds() { return covered(this.played, this.start, this.end); }

  // The share of the window that was really played.
  get share() {
    if (this.status !== "ready") return 0;
    if (this.kind === "image") return 1;
    return Math.min(1, this.seconds / Math.max(0.001, this.end - this.start));
  }

  get watched() { return this.share >= ENOUGH; }

  destroy() {
    this.gone = true;
    if (!this.element) return;
    document.removeEventListener("visibilitychange", this.listener);
    if (this.isTimed) this.element.pause();
    this.element.removeAttribute("src");
    this.element.remove();
  }
}
