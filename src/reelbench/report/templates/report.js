// The item browser. The page's numbers do not depend on it.
const PAGE = 40;
const field = (id) => document.getElementById(id);
const filters = ["search", "category", "kind", "verdict"].map(field);
let shown = PAGE;

function fillSelect(select, values) {
  for (const [value, label] of values) select.append(element("option", { value }, label));
}

function matches(item) {
  const [search, category, kind, verdict] = filters.map((f) => f.value);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [item.id, item.question, ...item.options].join(" ").toLowerCase();
  if (!words.every((word) => text.includes(word))) return false;
  if (category && !item.category.includes(category)) return false;
  if (kind && item.kind !== kind) return false;
  if (!verdict) return true;
  if (verdict === "split") return new Set(item.replies.map((reply) => reply.verdict)).size > 1;
  const [what, number] = verdict.split(":");
  return (item.replies[Number(number)].verdict === "right") === (what === "right");
}

const SIGNS = { right: "●", wrong: "○", none: "–", unscored: "·" };
const WORDS = { right: "right", wrong: "wrong", none: "no answer", unscored: "not scored" };

function dots(item) {
  const box = element("span", { class: "dots" });
  item.replies.forEach((reply, number) => {
    const label = `${data.models[number]}: ${WORDS[reply.verdict]}`;
    box.append(element("span", { class: `is-${reply.verdict}`, title: label, "aria-label": label, role: "img" },
      SIGNS[reply.verdict]));
  });
  return box;
}

function frames(item) {
  const strip = element("div", { class: "frames" });
  for (const name of item.videos) {
    for (const frame of data.frames[name] ?? []) {
      const inside = item.evidence.some(([start, end]) => start <= frame.time && frame.time <= end);
      const words = `${frame.time.toFixed(1)} s${inside ? ", evidence" : ""}`;
      strip.append(element("figure", { class: inside ? "evidence" : "" },
        element("img", { src: frame.image, alt: `${name} at ${words}`, loading: "lazy" }),
        element("figcaption", {}, words)));
    }
  }
  return strip;
}

function optionList(item) {
  const list = element("ul", { class: "options" });
  item.options.forEach((option, place) => {
    const letter = String.fromCharCode(65 + place);
    const key = item.answer.includes(letter);
    list.append(element("li", key ? { class: "key" } : {},
      element("b", {}, letter), option, key ? " (right)" : ""));
  });
  if (item.reference) list.append(element("li", { class: "note" }, `In words: ${item.reference}`));
  return list;
}

function replyTable(item) {
  const body = element("tbody");
  item.replies.forEach((reply, number) => body.append(element("tr", {},
    element("th", { scope: "row" }, data.models[number]),
    element("td", { class: `is-${reply.verdict}` }, WORDS[reply.verdict]),
    element("td", {}, reply.text))));
  return element("table", { class: "replies" }, body);
}

function card(item) {
  const card = element("details", { id: `item-${item.id}` },
    element("summary", {},
      element("a", { class: "id", href: `#item=${encodeURIComponent(item.id)}`, title: "Link to this item" }, item.id),
      element("span", { class: "text" }, item.question), dots(item)));
  card.addEventListener("toggle", () => {
    if (!card.open || card.querySelector(".body")) return;
    const where = item.evidence.map(([start, end]) => `${start} to ${end} s`).join(", ");
    const about = [item.category.join(", "), item.kind, item.videos.join(" and "), where && `evidence ${where}`];
    card.append(element("div", { class: "body" },
      element("p", { class: "note" }, about.filter(Boolean).join(" · ")),
      frames(item), optionList(item), replyTable(item)));
  });
  return card;
}

function draw() {
  const found = data.items.filter(matches);
  field("list").replaceChildren(...found.slice(0, shown).map(card));
  field("count").textContent = `${found.length} of ${data.items.length} items`;
  field("more").hidden = found.length <= shown;
}

field("category-label").hidden = data.categories.length < 2 || data.tag === "kind";
field("legend").textContent = `${SIGNS.right} right, ${SIGNS.wrong} wrong, ${SIGNS.none} no answer; one mark a model: ${data.models.join(", ")}.`;
fillSelect(field("category"), data.categories.map((name) => [name, name]));
fillSelect(field("kind"), [...new Set(data.items.map((item) => item.kind))].map((kind) => [kind, kind]));
fillSelect(field("verdict"), data.models.flatMap((model, number) =>
  [[`wrong:${number}`, `${model} not right`], [`right:${number}`, `${model} right`]]));
for (const filter of filters) filter.addEventListener("input", () => { shown = PAGE; draw(); });
field("items").querySelector("form").addEventListener("submit", (event) => event.preventDefault());
field("more").addEventListener("click", () => { shown += PAGE; draw(); });
addEventListener("beforeprint", () => { shown = data.items.length; draw(); });
addEventListener("hashchange", follow);

// #search=words filters the list, #item=id opens an item wherever it is in it.
function follow() {
  const wish = new URLSearchParams(location.hash.slice(1));
  if (wish.has("search")) field("search").value = wish.get("search");
  const place = data.items.filter(matches).findIndex((item) => item.id === wish.get("item"));
  shown = Math.max(shown, place + 1);
  draw();
  const wanted = place >= 0 && document.getElementById(`item-${wish.get("item")}`);
  if (wanted) { wanted.open = true; wanted.scrollIntoView(); }
}

follow();
document.documentElement.dataset.ready = "true";
