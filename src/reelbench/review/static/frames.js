// When each frame of a video comes on the screen, in seconds of the file.
export class FrameTimes {
  // The server tells how long frames last, in ticks, and how many in a row last so long.
  constructor({ ticks, first, runs, duration }) {
    const count = runs.reduce((sum, [, times]) => sum + times, 1);
    this.starts = new Float64Array(count);
    let place = 0;
    let at = first;
    this.starts[0] = at / ticks;
    for (const [step, times] of runs) {
      for (let n = 0; n < times; n += 1) {
        at += step;
        place += 1;
        this.starts[place] = at / ticks;
      }
    }
    const before = count > 1 ? this.starts[count - 1] - this.starts[count - 2] : 0.04;
    this.last = Math.max(duration, this.starts[count - 1] + Math.min(before, 0.04));
  }

  get count() { return this.starts.length; }

  start(frame) { return this.starts[frame]; }

  end(frame) { return frame + 1 < this.count ? this.starts[frame + 1] : this.last; }

  // Where a browser shows this frame and no other, however it rounds.
  middle(frame) { return (this.start(frame) + this.end(frame)) / 2; }

  // The frame that is on the screen at a time.
  at(time) {
    let low = 0;
    let high = this.count;
    while (high - low > 1) {
      const half = (low + high) >> 1;
      if (this.starts[half] <= time) low = half;
      else high = half;
    }
    return low;
  }

  // The frame that begins nearest to a time: times are rounded when they are kept.
  nearest(time) {
    const before = this.at(time);
    const after = Math.min(before + 1, this.count - 1);
    return time - this.starts[before] <= this.starts[after] - time ? before : after;
  }

  // The last frame before a span's end.
  ending(time) { return Math.max(0, time >= this.last - 0.001 ? this.count - 1 : this.nearest(time) - 1); }
}
