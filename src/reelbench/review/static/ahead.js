// The item that comes next, with its videos: it can be worked on when the server does not answer.
import { call, nextTask } from "./api.js";

const MOST = 64 << 20; // bytes of a video that a tab keeps

// Takes one item more than that in hand; its media hold what the player needs of them.
export async function fetchAhead(task) {
  const ahead = await nextTask(task.item);
  if (ahead) await Promise.all(ahead.media.map((medium, number) => fetchMedium(ahead, medium, number).catch(() => {})));
  return ahead;
}

async function fetchMedium(task, medium, number) {
  const place = `${encodeURIComponent(task.queue)}/${number}?item=${encodeURIComponent(task.item)}`;
  const facts = await call("GET", `/api/media/${place}`);
  if (facts.status !== "ready" || facts.kind === "image") return;
  const response = await fetch(`/media/${place}`);
  if (!response.ok || Number(response.headers.get("content-length")) > MOST) return void response.body?.cancel();
  medium.fetched = { facts, address: URL.createObjectURL(await response.blob()) };
}

// Lets go of the videos of an item.
export function release(task) {
  for (const { fetched } of task?.media ?? []) if (fetched) URL.revokeObjectURL(fetched.address);
}
