// The page write.
import { data, nextTask } from "./api.js";
import { Player } from "./player.js";

const task = await nextTask();
window.player = new Player(document.getElementById("work"), { queue: data.queue, item: task.item, media: task.media, ...data.protocol, spans: true });
