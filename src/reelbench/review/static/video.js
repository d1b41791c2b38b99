// The videos of an item.
import { element, t } from "./api.js";

export function mountVideo(container, task) {
  const videos = task.media.map((medium, number) => element("video", {
    controls: true, preload: "metadata", "aria-label": t("video", { name: medium.name }),
    src: `/media/${encodeURIComponent(task.queue)}/${number}?item=${encodeURIComponent(task.item)}`,
  }));
  container.append(...videos);
  return { watched: true, time: () => videos[0]?.currentTime ?? 0, destroy: () => videos.forEach((video) => video.removeAttribute("src")) };
}
