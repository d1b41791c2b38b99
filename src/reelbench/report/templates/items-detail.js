// One item in full: its video, its options, what it was asked with and what every model replied.
const LONG = 900;  // characters of a reply that is folded

function optionList(item) {
  const list = element("ul", { class: "options" });
  (item.options ?? []).forEach((option, place) => {
    const letter = letterOf(place), key = item.answer?.includes(letter);
    const by = COLUMNS.filter((_, column) => item.replies[column].answer?.includes(letter));
    list.append(element("li", key ? { class: "key" } : {}, element("b", {}, letter), prose("bdi", option),
      key ? " (right)" : "", by.length ? element("small", { class: "choosers" }, `chosen by ${inWords(by)}`) : ""));
  });
  if (item.reference) list.append(element("li", { class: "note" }, "In words: ", prose("bdi", item.reference)));
  return list;
}

function replyText(text) {
  const said = prose("div", text, { class: "said" });
  if (text.length <= LONG) return said;
  said.classList.add("long");
  const more = button(`Show all ${number(text.length)} characters`, () => {
    const open = said.classList.toggle("long");
    more.textContent = open ? `Show all ${number(text.length)} characters` : "Show less";
    more.setAttribute("aria-expanded", String(!open));
  }, { class: "plain", "aria-expanded": "false" });
  return element("div", {}, said, more);
}

// How the letter of a reply was found, or why there is none.
function readWords(item, turn) {
  if (turn.status && turn.status !== "truncated") return STATUS[turn.status] ?? turn.status;
  const cut = turn.status === "truncated" ? "cut off; " : "";
  if (!isClosed(item)) return cut ? "cut off" : "";
  if (!turn.letters) return `${cut}not read${turn.failure ? `: ${turn.failure}` : ""}${turn.judge ? `; judge ${turn.judge} found no choice either` : ""}`;
  const how = turn.judge ? ` by judge ${turn.judge}` : turn.method === undefined ? "" : ` (${data.methods[turn.method]})`;
  return `${cut}read as ${[...turn.letters].join(", ")}${how}`;
}

function tookWords(item, turn) {
  const [seconds, taken, given] = turn.took ?? [];
  const call = item.calls?.[turn.call], frames = total((call?.frames ?? []).map((each) => each.length));
  const media = (call?.given ?? []).filter((kind) => kind !== "frames" && kind !== "timestamps");
  return [
    seconds !== undefined && seconds !== null && `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`,
    (taken || given) && `${number(taken ?? 0)} tokens in, ${number(given ?? 0)} out`,
    frames && plural(frames, "frame"), ...media,
  ].filter(Boolean).join(" · ");
}

// A judge's reply as lines of names and values, however deep.
function lines(value, name = "") {
  if (value === null || typeof value !== "object") return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) => lines(inner, name ? `${name}, ${key}` : key));
}

function gradeFold(item, grade) {
  const shown = grade.rounds.map((round, place) => {
    const rows = round.reply === undefined ? [["failed", round.failure ?? round.status ?? ""]] : lines(round.reply);
    return element("li", {}, `Round ${place + 1}: `, ...rows.flatMap(([name, value], n) =>
      [n ? "; " : "", element("span", { class: "soft" }, `${name.replaceAll("_", " ")} `), prose("bdi", value)]));
  });
  const result = grade.rubric === "choice" ? (grade.choice ? `reads ${grade.choice.join(", ")}` : "finds no choice") :
    grade.score === null || grade.score === undefined ? "gave no grade" : `${Number(grade.score.toFixed(2))} of ${grade.scale[1]}`;
  return fold([element("b", {}, grade.judge), ` ${result}`, element("small", {}, ` rubric ${grade.rubric}, ${plural(grade.rounds.length, "round")}`)],
    element("ol", { class: "rounds" }, ...shown));
}

function orderWords(turn) {
  return [`order ${(turn.number ?? 0) + 1}`, turn.round !== undefined || turn.several ? `round ${(turn.round ?? 0) + 1}` : ""].filter(Boolean).join(", ");
}

// The options as they were shown, each with the letter that it has in the benchmark.
function shownOrder(item, turn) {
  if (!turn.order) return "";
  return element("p", { class: "soft" }, "Options as shown: ", ...turn.order.flatMap((place, shown) =>
    [shown ? "; " : "", element("b", {}, letterOf(shown)), " ", prose("bdi", item.options[place]), ` (here ${letterOf(place)})`]));
}

function turnBody(item, turn) {
  const words = [readWords(item, turn), tookWords(item, turn)].filter(Boolean).join(" · ");
  return element("div", { class: "turn" }, replyText(turn.text), words ? element("p", { class: "soft how" }, words) : "",
    shownOrder(item, turn), ...(turn.grades ?? []).map((grade) => gradeFold(item, grade)));
}

function replyCard(item, column) {
  const reply = item.replies[column], turns = reply.turns;
  const head = element("header", {}, element("span", { class: `mark is-${reply.verdict}`, "aria-hidden": "true" }, signOf(reply)),
    element("h4", {}, COLUMNS[column]), element("span", { class: `is-${reply.verdict}` }, outcomeWords(reply)));
  if (hasChanged(reply)) head.append(element("span", { class: "was" }, `was ${WORDS[reply.before.verdict]}${reply.before.answer ? `, ${[...reply.before.answer].join(", ")}` : ""} in ${reply.before.run}`));
  const card = element("section", { class: `reply of-${reply.verdict}`, "aria-label": COLUMNS[column] }, head);
  if (turns.length === 1) card.append(turnBody(item, turns[0]));
  if (turns.length < 2) return card;
  const counts = new Map();
  for (const turn of turns) counts.set(turn.letters ?? "", (counts.get(turn.letters ?? "") ?? 0) + 1);
  const votes = [...counts].sort((one, other) => other[1] - one[1]).map(([letters, count]) => `${letters ? [...letters].join(", ") : "no answer"} ${count}×`);
  const [most, next] = [...counts.values()].sort((one, other) => other - one);
  const tie = most === next ? `; ${data.ties}` : "";
  if (isClosed(item)) card.append(element("p", { class: "soft how" }, `${reply.answer ? [...reply.answer].join(", ") : "No answer"} by majority of ${turns.length} replies: ${votes.join(", ")}${tie}`));
  const rounds = turns.some((turn) => turn.round);
  turns.forEach((turn) => card.append(fold([element("b", {}, turn.letters ? [...turn.letters].join(", ") : STATUS[turn.status] ?? "–"), ` ${orderWords({ ...turn, several: rounds })} `,
    prose("small", turn.text.slice(0, 90) + (turn.text.length > 90 ? "…" : ""))], turnBody(item, turn))));
  if (turns[0].text.length > 90) card.querySelector("details").open = true;
  return card;
}

// What was sent, word for word: the page has each text once, and questions and options apart.
function promptText(item, turn, template) {
  const places = turn.order ?? (item.options ?? []).map((_, place) => place);
  const options = places.map((place, shown) => `${letterOf(shown)}. ${item.options[place]}`).join("\n");
  const slots = { question: item.question, options };
  return template.replace(/\{\{(question|options)\}\}/g, (_, slot) => slots[slot]).trim();
}

function prompts(item) {
  const asked = new Map();
  item.replies.forEach((reply, column) => reply.turns.forEach((turn) => {
    const call = item.calls?.[turn.call];
    if (call?.prompt === undefined) return;
    const key = JSON.stringify([turn.call, turn.order, data.columns[column].condition]);
    if (!asked.has(key)) asked.set(key, { call, turn, condition: data.columns[column].condition, models: new Set() });
    asked.get(key).models.add(COLUMNS[column]);
  }));
  const folds = [...asked.values()].map(({ call, turn, condition, models }) => {
    const frames = total((call.frames ?? []).map((each) => each.length));
    const media = (call.given ?? []).map((kind) => kind === "frames" ? (frames ? plural(frames, "frame") : "frames") : kind);
    const words = [`condition ${condition}`, turn.number ? `order ${turn.number + 1}` : "", media.length ? media.join(", ") : call.given ? "text alone" : ""];
    return fold([element("b", {}, "Prompt as sent"), ` ${words.filter(Boolean).join(", ")} `, element("small", {}, `to ${[...models].join("; ")}`)],
      call.given ? "" : element("p", { class: "soft" }, "How many frames were sent is not recorded in this run."),
      element("pre", { class: "prompt", dir: "auto" }, promptText(item, turn, data.prompts[call.prompt])));
  });
  return folds.length < 3 ? folds : [fold([element("b", {}, "Prompts as sent"), ` ${folds.length}, by condition, order and number of frames`], element("div", { class: "inner" }, ...folds))];
}

function tagList(item) {
  const chips = data.tags.flatMap((tag, place) => item.tags[place].map((value) => [tag.name, tag.values[value]]));
  return element("p", { class: "row chips" }, element("span", { class: "chip" }, item.kind), ...chips.map(([name, value]) => {
    const chip = button("", () => change({ tags: { ...state.tags, [name]: value } }), { class: "chip", title: "Show the items with this tag" });
    chip.append(element("span", { class: "soft" }, `${name} `), prose("bdi", value));
    return chip;
  }));
}

// The frames that models saw: one choice where all saw the same.
function seenFrames(item, players) {
  const sets = new Map();
  item.replies.forEach((reply, column) => reply.turns.forEach((turn) => {
    const frames = item.calls?.[turn.call]?.frames;
    if (!frames || !total(frames.map((each) => each.length))) return;
    const key = JSON.stringify(frames);
    if (!sets.has(key)) sets.set(key, { frames, models: new Set() });
    sets.get(key).models.add(COLUMNS[column]);
  }));
  const all = [...sets.values()], show = (set) => players.forEach((player, place) => player.setFrames(set.frames[place] ?? []));
  if (!all.length) return "";
  show(all[0]);
  const count = (set) => plural(total(set.frames.map((each) => each.length)), "frame");
  const note = element("p", { class: "soft how" }, element("i", { class: "tick sample" }), ` ${count(all[0])} that ${inWords([...all[0].models])} saw; a click goes there`);
  if (all.length === 1) return note;
  const select = element("select", {}, ...all.map((set, place) => element("option", { value: place }, `${[...set.models].join("; ")}: ${count(set)}`)));
  select.addEventListener("input", () => show(all[Number(select.value)]));
  return element("p", { class: "soft how" }, element("label", {}, element("i", { class: "tick sample" }), " Frames seen by ", select));
}

const question = (item) => prose("p", item.question, { class: "question" });

// Options and replies; beside another item, under a heading and with the question.
function answers(item, heading = "") {
  return element("div", { class: "answers" }, heading ? element("h4", { class: "side" }, heading) : "",
    heading ? question(item) : "", optionList(item),
    element("div", { class: "replies" }, ...item.replies.map((_, column) => replyCard(item, column))), ...prompts(item));
}

const sideOf = (item) => isClosed(item) ? "With options" : "Open";

function itemBody(item, players) {
  const several = item.media.length > 1;
  const screens = item.media.map((_, place) => {
    const player = players && new Player(item, place, several ? `Video ${place + 1}` : "");
    if (player) players.push(player);
    const still = several && !player ? element("h4", {}, `Video ${place + 1}`) : "";
    return element("div", {}, still, player?.box ?? "", pictures(item, place, player));
  });
  const others = (item.pair ?? []).map((id) => data.items.find((each) => each.id === id)).filter(Boolean);
  const sides = players && others.length ? [item, ...others] : [item];
  return [
    sides.length > 1 ? "" : question(item),
    element("div", { class: `players${several ? " two" : ""}` }, ...screens),
    players ? seenFrames(item, players) : "",
    element("div", { class: `sides${sides.length > 1 ? " two" : ""}` },
      ...sides.map((each) => answers(each, sides.length > 1 ? `${sideOf(each)}: ${each.id}` : ""))),
  ];
}
