// Words of the item browser. All text by models and people becomes text nodes, never markup.
const SIGNS = { right: "●", wrong: "○", none: "–", unscored: "·" };
const WORDS = { right: "right", wrong: "wrong", none: "no answer", unscored: "not scored", graded: "graded" };
const STATUS = { refused: "refused", error: "failed", timeout: "timed out", over_budget: "over budget", truncated: "cut off" };
const field = (id) => document.getElementById(id);
const letterOf = (place) => String.fromCharCode(65 + place);
const number = (value) => value.toLocaleString("en-US");
const inWords = (names) => names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
const percentOf = (share) => `${Math.round(100 * share)}%`;

// 12.5 s; 1:05.3 from a minute on.
function clock(time) {
  if (time < 60) return `${time.toFixed(1)} s`;
  const rest = (time % 60).toFixed(1).padStart(4, "0");
  return rest === "60.0" ? `${Math.floor(time / 60) + 1}:00.0` : `${Math.floor(time / 60)}:${rest}`;
}

// A text of whatever script: its own direction, whichever way the page goes.
const prose = (name, text, attributes = {}) => element(name, { dir: "auto", ...attributes }, text);
const hidden = (text) => element("span", { class: "unseen" }, text);

function button(text, onclick, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", onclick);
  return made;
}

function fold(summary, ...content) {
  return element("details", { class: "fold" }, element("summary", {}, element("span", { class: "text" }, ...[summary].flat())), ...content);
}

// What a mark in the list stands for.
function outcomeWords(reply) {
  if (!reply.turns.length) return "not asked";
  if (reply.verdict === "graded") return `graded ${percentOf(reply.share)} of the best`;
  const answer = reply.answer ? `, answered ${[...reply.answer].join(", ")}` : "";
  return WORDS[reply.verdict] + answer;
}

const signOf = (reply) => reply.verdict === "graded" ? String(Math.round(100 * reply.share)) : SIGNS[reply.verdict];
