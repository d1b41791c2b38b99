// The item browser and the figure. The page's numbers do not depend on it.
const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 40;
const field = (id) => document.getElementById(id);
const filters = ["search", "category", "kind", "verdict"].map(field);
let shown = PAGE;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

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
  const [what, number] = verdict.split(":");
  return item.replies[Number(number)].right === (what === "right");
}

function dots(item) {
  const box = element("span", { class: "dots" });
  item.replies.forEach((reply, number) => {
    const word = reply.right ? "right" : "wrong";
    const label = `${data.models[number]}: ${word}`;
    box.append(element("span", { class: `is-${word}`, title: label, "aria-label": label, role: "img" },
      reply.right ? "●" : "○"));
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
  return list;
}

function replyTable(item) {
  const body = element("tbody");
  item.replies.forEach((reply, number) => body.append(element("tr", {},
    element("th", { scope: "row" }, data.models[number]),
    element("td", { class: reply.right ? "is-right" : "is-wrong" }, reply.right ? "right" : "wrong"),
    element("td", {}, reply.text))));
  return element("table", { class: "replies" }, body);
}

function card(item) {
  const card = element("details", { id: `item-${item.id}` },
    element("summary", {},
      element("span", { class: "id" }, item.id), element("span", { class: "text" }, item.question), dots(item)));
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

function drawFigure() {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink");
  const line = style.getPropertyValue("--line");
  const axis = { color: ink, gridcolor: line, zerolinecolor: line };
  Plotly.newPlot("figure", data.figure.data, {
    ...data.figure.layout,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, family: "inherit" },
    xaxis: { ...axis, ...data.figure.layout.xaxis }, yaxis: { ...axis, ...data.figure.layout.yaxis },
  }, { responsive: true, displayModeBar: false });
}

fillSelect(field("category"), data.categories.map((name) => [name, name]));
fillSelect(field("kind"), [...new Set(data.items.map((item) => item.kind))].map((kind) => [kind, kind]));
fillSelect(field("verdict"), data.models.flatMap((model, number) =>
  [[`wrong:${number}`, `${model} wrong`], [`right:${number}`, `${model} right`]]));
for (const filter of filters) filter.addEventListener("input", () => { shown = PAGE; draw(); });
field("items").querySelector("form").addEventListener("submit", (event) => event.preventDefault());
field("more").addEventListener("click", () => { shown += PAGE; draw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawFigure);
field("search").value = new URLSearchParams(location.hash.slice(1)).get("search") ?? "";
draw();
drawFigure();
const opened = new URLSearchParams(location.hash.slice(1)).get("item");
const wanted = opened && document.getElementById(`item-${opened}`);
if (wanted) { wanted.open = true; wanted.scrollIntoView(); }
document.documentElement.dataset.ready = "true";
