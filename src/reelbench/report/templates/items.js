// The item browser: the controls, the keys and the link. The page's numbers do not depend on it.
let players = [], opener = null;

function fillSelect(select, values) {
  select.replaceChildren(...values.map(([value, label]) => element("option", { value }, label)));
}

const counted = (name, count) => `${name} (${number(count)})`;
const tagFields = new Map();

// A tag with few values gets a menu, one with many a field that completes.
function tagField(tag, place) {
  const counts = new Map();
  for (const item of data.items) for (const value of item.tags[place]) counts.set(value, (counts.get(value) ?? 0) + 1);
  let input;
  if (tag.values.length <= 60) {
    input = element("select");
    fillSelect(input, [["", "all"], ...tag.values.map((value, number) => [value, counted(value, counts.get(number) ?? 0)])]);
  } else {
    input = element("input", { type: "search", list: `values-${place}`, placeholder: "all" });
    field("tag-filters").append(element("datalist", { id: `values-${place}` }, ...tag.values.map((value) => element("option", { value }))));
  }
  input.addEventListener("input", () => change({ tags: { ...state.tags, [tag.name]: input.value } }, input.tagName === "INPUT"));
  tagFields.set(tag.name, input);
  return element("label", {}, tag.name, " ", input);
}

function drawTags() {
  const useful = data.tags.map((tag, place) => [tag, place]).filter(([tag, place]) => tag.values.length > 1 || data.items.some((item) => !item.tags[place].length));
  const made = useful.map(([tag, place]) => tagField(tag, place));
  const box = field("tag-filters");
  box.append(...made.slice(0, 4));
  if (made.length > 4) box.append(element("details", { class: "fold", id: "more-tags" }, element("summary", {}, element("span", {}, plural(made.length - 4, "more tag"))), element("div", { class: "filters" }, ...made.slice(4))));
}

function drawControls() {
  const one = COLUMNS.includes(state.model), has = (read) => data.items.some((item) => item.replies.some(read));
  const offered = Object.entries(OUTCOMES).filter(([name]) => name === state.outcome || ({
    split: COLUMNS.length > 1, beats: COLUMNS.length > 1, changed: Boolean(data.since),
    low: has((reply) => reply.verdict === "graded"), right: data.items.some(isClosed), wrong: data.items.some(isClosed), unread: data.items.some(isClosed),
  })[name] !== false);
  fillSelect(field("outcome"), [["", "any"], ...offered.map(([name, [withOne, without]]) => [name, (one ? withOne : without) + (name === "changed" && data.since ? ` since ${data.since}` : "")])]);
  const took = (place) => has((reply) => reply.turns.some((turn) => turn.took?.[place]));
  fillSelect(field("sort"), Object.entries(SORTS).filter(([name]) => (name !== "tokens" || took(1)) && (name !== "slowest" || took(0)) && (name !== "disagreement" || COLUMNS.length > 1)).map(([name, [words]]) => [name, words]));
  const beats = state.outcome === "beats", [first, second] = compared(state);
  fillSelect(field("model"), [...(beats ? [] : [["", "all models"]]), ...COLUMNS.map((name) => [name, name])]);
  fillSelect(field("other"), COLUMNS.map((name) => [name, name]));
  field("other-label").hidden = !beats;
  field("search").value = state.search;
  field("outcome").value = Object.hasOwn(OUTCOMES, state.outcome) ? state.outcome : "";
  field("model").value = beats ? COLUMNS[first] : one ? state.model : "";
  field("other").value = COLUMNS[second] ?? "";
  field("kind").value = state.kind;
  field("sort").value = Object.hasOwn(SORTS, state.sort) ? state.sort : "";
  for (const [name, input] of tagFields) if (input !== document.activeElement || input.tagName === "SELECT") input.value = state.tags[name] ?? "";
  field("clear").hidden = !isFiltered(state) && !state.sort;
  if (field("more-tags") && [...field("more-tags").querySelectorAll("select, input")].some((input) => input.value)) field("more-tags").open = true;
}

function drawList() {
  found = foundItems(state);
  const place = found.findIndex((item) => item.id === state.item);
  showAround(Math.max(0, place));
  field("count").textContent = `${number(found.length)} of ${number(data.items.length)} items`;
}

function neighbour(way) {
  const place = found.findIndex((item) => item.id === state.item);
  return place < 0 ? (way > 0 || !state.item ? found[0] : undefined) : found[place + way];
}

function drawDetail() {
  const item = data.items.find((each) => each.id === state.item), box = field("detail");
  for (const player of players) player.media?.pause();
  players = [];
  box.hidden = !item;
  field("browser").classList.toggle("open", Boolean(item));
  if (!item) { box.replaceChildren(state.item ? element("p", { class: "note warning" }, `There is no item ${state.item} on this page.`) : ""); box.hidden = !state.item; return; }
  const place = found.indexOf(item);
  const go = (way) => { const next = neighbour(way); if (next) openItem(next.id); };
  const before = button("Previous", () => go(-1), { "aria-keyshortcuts": "k" }), after = button("Next", () => go(1), { "aria-keyshortcuts": "j" });
  before.disabled = !neighbour(-1);
  after.disabled = !neighbour(1);
  const head = element("header", { class: "row detail-head" }, button("Back to the list", closeItem, { class: "back", "aria-keyshortcuts": "Escape" }), before, after,
    element("span", { class: "soft" }, place < 0 ? "not among the items that the filters show" : `${number(place + 1)} of ${number(found.length)}`));
  const title = element("h3", { id: "detail-title", tabindex: "-1" }, item.id);
  box.setAttribute("aria-label", `Item ${item.id}`);
  box.replaceChildren(head, title, tagList(item), ...itemBody(item, players));
}

// Draw all of it again, for a link or after a change.
function draw() {
  drawControls();
  drawList();
  drawDetail();
  markRow(state.item);
}

// Change what is shown, and the link with it; while one types, the link has one step in the history.
function change(fields, typing = false) {
  state = { ...state, ...fields };
  history[typing ? "replaceState" : "pushState"](null, "", hashOf(state));
  draw();
}

function openItem(id, focus = true) {
  state = { ...state, item: id };
  history.pushState(null, "", hashOf(state));
  drawDetail();
  markRow(id);
  const top = field("browser").getBoundingClientRect().top;
  if (top < 0 || top > innerHeight / 2) field("browser").scrollIntoView({ behavior: "instant" });
  if (focus) field("detail-title")?.focus({ preventScroll: true });
}

function closeItem() {
  const id = state.item;
  state = { ...state, item: "" };
  history.pushState(null, "", hashOf(state));
  drawDetail();
  markRow("");
  rowOf(id)?.querySelector("a.id").focus();
}

function follow() {
  if (location.hash && !location.hash.includes("=") && location.hash !== "#items") return;  // a section of the page
  state = stateOf(location.hash);
  draw();
  if (state.item || state.sort || isFiltered(state)) field(state.item ? "browser" : "items").scrollIntoView({ behavior: "instant" });
}

const KEYS = {
  "/": () => { field("search").focus(); field("search").select(); },
  j: () => { const next = neighbour(1); if (next) openItem(next.id); },
  k: () => { const next = neighbour(-1); if (next) openItem(next.id); },
  ArrowRight: () => state.item && players[0]?.step(1),
  ArrowLeft: () => state.item && players[0]?.step(-1),
  ArrowDown: () => document.activeElement?.closest("#list-body") ? (moveInList(1), true) : undefined,
  ArrowUp: () => document.activeElement?.closest("#list-body") ? (moveInList(-1), true) : undefined,
  " ": () => state.item && players[0] ? (players.forEach((player) => player.toggle()), true) : undefined,
  l: () => state.item && players.forEach((player) => player.setLoop(!player.loop)),
  Escape: () => state.item ? closeItem() : undefined,
  "?": () => field("key-help").showModal(),
};
const NATIVE = { " ": "button, summary, a, video, audio", ArrowLeft: "video, audio, .frames, .scroll", ArrowRight: "video, audio, .frames, .scroll" };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || field("key-help").open) return;
  const writing = event.target.closest("input, select, textarea");
  if (writing && event.key === "Escape") { event.target.blur(); return; }
  if (writing || !KEYS[event.key] || (NATIVE[event.key] && event.target.closest(NATIVE[event.key]))) return;
  const seen = field("items").getBoundingClientRect();
  const near = (seen.top < innerHeight && seen.bottom > 0) || field("items").contains(document.activeElement);
  if (!near && !["/", "?", "j", "k"].includes(event.key)) return;
  if (KEYS[event.key]() !== undefined || ["/", "j", "k", "?"].includes(event.key)) event.preventDefault();
});

for (const name of ["outcome", "model", "other", "kind", "sort"]) field(name).addEventListener("input", () => {
  const [one, other] = compared({ ...state, [name]: field(name).value });
  const both = (name === "outcome" ? field(name).value : state.outcome) === "beats" ? { model: COLUMNS[one], other: COLUMNS[other] } : { other: "" };
  change({ [name]: field(name).value, ...both });
});
field("search").addEventListener("input", () => change({ search: field("search").value }, true));
field("item-filters").addEventListener("submit", (event) => event.preventDefault());
field("clear").addEventListener("click", () => { change({ ...NOTHING, tags: {}, item: state.item }); field("search").focus(); });
field("keys").addEventListener("click", () => field("key-help").showModal());
field("more").addEventListener("click", showMore);
field("earlier").addEventListener("click", showEarlier);
field("list-body").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || getSelection().toString()) return;
  const row = event.target.closest("tr");
  if (!row) return;
  event.preventDefault();
  openItem(row.id.slice("item-".length));
});
new IntersectionObserver((seen) => { if (seen.some((each) => each.isIntersecting) && !field("more").hidden) showMore(); }, { rootMargin: "300px" }).observe(field("more"));
addEventListener("popstate", follow);
addEventListener("hashchange", follow);

const KINDS = [...new Set(data.items.map((item) => item.kind))];
fillSelect(field("kind"), [["", "all"], ...KINDS.map((kind) => [kind, counted(kind, data.items.filter((item) => item.kind === kind).length)])]);
field("kind-label").hidden = KINDS.length < 2;
field("legend").textContent = `${SIGNS.right} right, ${SIGNS.wrong} wrong, ${SIGNS.none} no answer${data.items.some((item) => !isClosed(item)) ? `, ${SIGNS.unscored} not scored; a number is a grade in percent of the best` : ""}.`;
drawTags();
drawHead();
follow();
document.documentElement.dataset.ready = "true";
