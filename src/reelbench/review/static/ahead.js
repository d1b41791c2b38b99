// The videos of the item that comes next: it can be worked on when the server does not answer.
import { call } from "./api.js";

const MOST = 64 << 20; // bytes of a video that a tab keeps

// Fetches the videos of an item as long as they are wanted; its media then hold what the player needs.
export const fetchMedia = (task, isWanted) =>
  Promise.allSettled(task.media.map((medium, number) => fetchMedium(task, medium, number, isWanted)));

async function fetchMedium(task, medium, number, isWanted) {
  const place = `${encodeURIComponent(task.queue)}/${number}?item=${encodeURIComponent(task.item)}`;
  let facts = await call("GET", `/api/media/${place}`);
  while (facts.status === "preparing" && isWanted()) {
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
    facts = await call("GET", `/api/media/${place}`);
  }
  if (facts.status !== "ready" || facts.kind === "image" || !isWanted()) return;
  const response = await fetch(`/media/${place}`);
  if (!response.ok || Number(response.headers.get("content-length")) > MOST) return void response.body?.cancel();
  const blob = await response.blob();
  if (isWanted()) medium.fetched = { facts, address: URL.createObjectURL(blob) };
}

// Lets go of the videos of an item.
export function release(task) {
  for (const { fetched } of task?.media ?? []) if (fetched) URL.revokeObjectURL(fetched.address);
}
