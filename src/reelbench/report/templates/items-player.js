// Plays the video of an item, from its start to its end, with what models saw of it on a time line.
const madeFiles = new Map();

// The address of a video: beside the page, or inside of it.
function addressOf(entry) {
  if (!entry?.file) return entry?.url ?? "";
  if (!madeFiles.has(entry.file)) {
    const binary = atob(field(entry.file).textContent);
    const bytes = Uint8Array.from(binary, (sign) => sign.charCodeAt(0));
    madeFiles.set(entry.file, URL.createObjectURL(new Blob([bytes], { type: entry.type })));
  }
  return madeFiles.get(entry.file);
}

function unplayable(path, entry) {
  const box = element("div", { class: "note warning unplayable" }, element("p", {},
    `${path} cannot be played here: it is not where the page looks for it, or this browser does not know its format.`));
  if (entry?.url && !entry.file) box.append(element("p", {}, "The page looks for it at ", element("a", { href: entry.url }, decodeURIComponent(entry.url)), "."));
  box.append(entry?.why ? element("p", {}, `It is not inside of the page: ${entry.why}.`) :
    element("p", {}, "To put videos into the page, encoded anew where browsers need that: ", element("code", {}, "reelbench report RUN --embed"), "."));
  return box;
}

class Player {
  // ``heading`` names it among several; ``frames`` are the times that a model saw.
  constructor(item, place, heading) {
    const medium = item.media[place];
    this.entry = data.videos[medium.path] ?? { kind: "video" };
    this.offset = this.entry.offset ?? 0;  // where in the video the file inside of the page begins
    this.start = medium.start ?? 0;
    this.end = medium.end ?? null;
    this.evidence = place === 0 || item.media.length === 1 ? item.evidence ?? [] : [];
    this.name = heading ? `${heading}, ${medium.path}` : medium.path;
    this.loop = false;
    this.frames = [];
    this.box = element("figure", { class: "player" });
    if (heading) this.box.append(element("figcaption", {}, heading));
    this.screen = element("div", { class: "screen" });
    this.line = element("div", { class: "timeline", role: "group", "aria-label": `Time line of ${this.name}` });
    this.ends = element("p", { class: "ends" });
    this.box.append(this.screen);
    if (this.entry.kind === "image") this.showImage(medium.path);
    else this.showVideo(medium.path);
    this.box.append(element("p", { class: "path" }, medium.path));
  }

  showImage(path) {
    const image = element("img", { src: addressOf(this.entry), alt: this.name });
    image.addEventListener("error", () => this.screen.replaceChildren(unplayable(path, this.entry)));
    this.screen.append(image);
  }

  showVideo(path) {
    const kind = this.entry.kind === "sound" ? "audio" : "video";
    const media = this.media = element(kind, { controls: "", preload: "metadata", playsinline: "", "aria-label": this.name });
    const near = (data.frames[path] ?? []).find((frame) => frame.time >= this.start) ?? data.frames[path]?.[0];
    if (near && kind === "video") media.poster = near.image;
    // A hair behind the start, so that browsers show a frame before it is played.
    media.addEventListener("loadedmetadata", () => { this.draw(); this.seek(this.start + 0.001); });
    media.addEventListener("play", () => { if (this.now() >= this.last() - 0.05) this.seek(this.start); this.watch(); });
    media.addEventListener("seeked", () => { media.removeAttribute("poster"); this.mark(); });
    media.addEventListener("ended", () => { if (this.loop) { this.seek(this.start); media.play(); } });
    media.addEventListener("error", () => { this.media = null; this.screen.replaceChildren(unplayable(path, this.entry)); this.tools.remove(); this.draw(); });
    media.src = addressOf(this.entry);
    this.screen.append(media);
    this.repeat = button("Loop", () => this.setLoop(!this.loop), { "aria-pressed": "false", "aria-keyshortcuts": "l" });
    const again = button(this.end === null && !this.start ? "From the start" : "Play the span", () => { this.seek(this.start); this.media?.play(); });
    this.tools = element("p", { class: "row tools" }, again, this.repeat,
      ...this.evidence.map(([from, to]) => button(`Evidence ${clock(from)} to ${clock(to)}`, () => { this.seek(from); this.media?.play(); }, { class: "proof" })));
    this.box.append(this.line, this.ends, this.tools);
    this.draw();
  }

  setLoop(on) { this.loop = on; this.repeat?.setAttribute("aria-pressed", String(on)); }
  now() { return (this.media?.currentTime ?? 0) + this.offset; }
  // Without a video that says it, what is known of its length.
  last() {
    if (this.end !== null) return this.end;
    const long = this.media?.duration;
    if (Number.isFinite(long) && long > 0) return long + this.offset;
    return Math.max(this.start + 1, ...this.frames, ...this.evidence.map((span) => span[1]));
  }
  seek(time) { if (this.media) { this.media.currentTime = Math.max(0, time - this.offset); this.passed = time; this.mark(); } }
  toggle() { if (this.media?.paused) this.media.play(); else this.media?.pause(); }

  // To the frame before or behind, that the model saw; by a second where that is not known.
  step(way) {
    const now = this.now();
    const there = way > 0 ? this.frames.find((time) => time > now + 0.02) : this.frames.findLast((time) => time < now - 0.02);
    this.media?.pause();
    if (there !== undefined) this.seek(there);
    else if (!this.frames.length) this.seek(Math.min(this.last(), Math.max(this.start, now + way)));
  }

  // While it plays: stop at the end of the span, or begin again.
  watch() {
    this.passed = this.now();
    const look = () => {
      if (!this.media || !this.box.isConnected) return this.media?.pause();
      const now = this.now();
      if (this.end !== null && this.passed < this.end && now >= this.end) {
        if (!this.loop) this.media.pause();  // first: or it may stop where it is by then
        this.seek(this.loop ? this.start : this.end);
      }
      this.passed = this.now();
      this.mark();
      if (!this.media.paused) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }

  at(time) { return 100 * Math.min(1, Math.max(0, (time - this.start) / (this.last() - this.start))); }
  mark() { if (this.cursor) this.cursor.style.left = `${this.at(this.now())}%`; }
  setFrames(times) { this.frames = times; this.draw(); }

  draw() {
    this.cursor = element("i", { class: "now" });
    const proofs = this.evidence.map(([from, to]) => {
      const bar = element("i", { class: "proof", title: `evidence, ${clock(from)} to ${clock(to)}` });
      bar.style.left = `${this.at(from)}%`;
      bar.style.width = `${Math.max(0.4, this.at(to) - this.at(from))}%`;
      return bar;
    });
    const ticks = this.frames.map((time, place) => {
      const words = `Frame ${place + 1} of ${this.frames.length}, at ${clock(time)}`;
      const tick = button("", () => { this.media?.pause(); this.seek(time); }, { class: "tick", title: words, "aria-label": words, tabindex: "-1" });
      tick.style.left = `${this.at(time)}%`;
      return tick;
    });
    this.line.replaceChildren(...proofs, ...ticks, this.cursor);
    this.line.onclick = (event) => {
      if (event.target.closest("button")) return;
      const box = this.line.getBoundingClientRect();
      this.seek(this.start + (this.last() - this.start) * (event.clientX - box.left) / box.width);
    };
    // Of a video that is not there, and of which nothing is known, there is no line to draw.
    const unknown = !this.media && this.end === null && !this.frames.length && !this.evidence.length;
    for (const part of [this.line, this.ends]) part.hidden = unknown;
    this.ends.replaceChildren(element("span", {}, clock(this.start)), element("span", {}, clock(this.last())));
    this.mark();
  }
}

// Small pictures of a video, or of the item's span of it; a click goes there.
function pictures(item, place, player) {
  const strip = element("div", { class: "frames", role: "group", "aria-label": `Pictures of ${item.media[place].path}`, tabindex: "0" });
  const { path, start, end } = item.media[place];
  const shown = (data.frames[path] ?? []).filter(({ time }) => time >= (start ?? 0) && time <= (end ?? Infinity));
  for (const frame of shown) {
    const inside = (item.evidence ?? []).some(([start, end]) => start <= frame.time && frame.time <= end);
    const words = `${clock(frame.time)}${inside ? ", evidence" : ""}`;
    const image = element("img", { src: frame.image, alt: `${item.media[place].path} at ${words}`, loading: "lazy" });
    image.addEventListener("click", () => { player?.media?.pause(); player?.seek(frame.time); });
    strip.append(element("figure", { class: inside ? "evidence" : "" }, image, element("figcaption", {}, words)));
  }
  return strip.childElementCount ? strip : "";
}
