// Seconds spent with an item while its tab is visible.
export class Stopwatch {
  constructor(place, seconds = 0) {
    this.place = place;
    this.before = seconds;
    this.since = document.hidden ? null : performance.now();
    this.listen = () => (document.hidden ? this.hold() : this.go());
    document.addEventListener("visibilitychange", this.listen);
    this.ticking = setInterval(() => this.show(), 1000);
    this.show();
  }

  get seconds() {
    return this.before + (this.since === null ? 0 : (performance.now() - this.since) / 1000);
  }

  hold() { this.before = this.seconds; this.since = null; }

  go() { this.since ??= performance.now(); }

  show() {
    const whole = Math.floor(this.seconds);
    const text = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
    if (this.place) this.place.textContent = text;
  }

  stop() {
    this.hold();
    clearInterval(this.ticking);
    document.removeEventListener("visibilitychange", this.listen);
  }
}
