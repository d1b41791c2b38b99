// The videos of an item, in the player, and whether they were watched in full.
import { data } from "./api.js";
import { Player } from "./player.js";
import { pageKeys } from "./shortcuts.js";

export class Video {
  constructor(work, container) {
    const { queue, item, media } = work.task;
    const { watch, gap, pairs } = data.protocol;
    this.work = work;
    this.player = new Player(container, { queue, item, media, watch, gap, pairs, keys: [pageKeys] });
    this.player.addEventListener("watched", () => work.keep({ watched: true }));
  }

  // Also where it was watched before the page was loaded again.
  get watched() { return this.work.state.watched ?? this.player.watched; }

  get currentTime() { return this.player.currentTime; }

  destroy() { this.player.destroy(); }
}
