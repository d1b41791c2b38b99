// The instructions of a queue: open until one closes them, and again when they have changed.
import { data } from "./api.js";

const box = document.getElementById("instructions");
const key = `reelbench instructions ${data.person} ${data.queue}`;

if (box) {
  box.open = localStorage.getItem(key) !== data.protocol.instructions;
  box.addEventListener("toggle", () => {
    if (box.open) localStorage.removeItem(key);
    else localStorage.setItem(key, data.protocol.instructions);
  });
}
