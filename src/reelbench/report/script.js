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

function drawFigure(box) {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink");
  const line = style.getPropertyValue("--line");
  const axis = { color: ink, gridcolor: line, zerolinecolor: line };
  const { data: traces, layout } = data.figures[box.dataset.figure];
  const polar = layout.polar && { ...layout.polar, bgcolor: "rgba(0,0,0,0)",
    radialaxis: { ...axis, ...layout.polar.radialaxis }, angularaxis: { ...axis, type: "category" } };
  Plotly.react(box, traces, {
    ...layout, ...(polar && { polar }),
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, family: "inherit" },
    xaxis: { ...axis, ...layout.xaxis }, yaxis: { ...axis, ...layout.yaxis },
  }, { responsive: true, displayModeBar: false });
}

// Figures are drawn when they come near: a page of many opens as fast as a page of one.
const drawings = [...document.querySelectorAll(".drawing")];
const drawn = new Set();
const drawOnce = (box) => { if (!drawn.has(box)) { drawn.add(box); drawFigure(box); } };
const watcher = new IntersectionObserver((seen) => {
  for (const each of seen) if (each.isIntersecting) { watcher.unobserve(each.target); drawOnce(each.target); }
}, { rootMargin: "600px" });

function save(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

// A cell's small print, such as an interval, stands behind its number in brackets.
function cellText(cell) {
  const small = [...cell.querySelectorAll("small")].map((part) => part.textContent.trim()).join(", ");
  const copy = cell.cloneNode(true);
  copy.querySelectorAll("small").forEach((part) => part.remove());
  const text = copy.textContent.replace(/\s+/g, " ").trim();
  return small ? `${text} (${small})` : text;
}

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
for (const sign of "&%$#_{}") LATEX[sign] = `\\${sign}`;
const PAIR = String.raw`[+-]?(\d[\d,]*)?\.?\d+([eE][+-]?\d+)?\s?%?( (to|of) [+-]?(\d[\d,]*)?\.?\d+\s?%?)?`;
const NUMBER = new RegExp(`^(${PAIR}( \\(${PAIR}\\))?|-)$`);
const FORMS = {
  // What a spreadsheet would take for a formula gets a quote in front; numbers stay numbers.
  csv: (rows) => rows.map((row) => row.map((cell) => /^\s*[=+\-@\t\r＝＋－＠]/.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell)
    .map((cell) => /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell).join(",")).join("\n") + "\n",
  md: (rows) => [rows[0], rows[0].map(() => "---"), ...rows.slice(1)]
    .map((row) => `| ${row.map((cell) => cell.replaceAll("\\", "\\\\").replaceAll("|", "\\|")).join(" | ")} |`).join("\n") + "\n",
  tex: (rows) => {
    const spelled = (cell) => [...cell].map((sign) => LATEX[sign] ?? sign).join("").replace(/^[[*]/, "{$&}");
    const lines = rows.map((row) => row.map(spelled).join(" & ") + " \\\\");
    return [`\\begin{tabular}{l${"r".repeat(rows[0].length - 1)}}`, "\\toprule", lines[0], "\\midrule", ...lines.slice(1), "\\bottomrule", "\\end{tabular}", ""].join("\n");
  },
};

for (const button of document.querySelectorAll("[data-table]")) button.addEventListener("click", () => {
  const table = button.closest(".tabled").querySelector("table");
  const rows = [...table.rows].map((row) => [...row.cells].filter((cell) => !cell.classList.contains("chart")).map(cellText));
  const kind = button.dataset.table;
  save(`${button.closest("[data-name]").dataset.name.replace(/\W+/g, "-")}.${kind}`, FORMS[kind](rows), "text/plain");
});
for (const button of document.querySelectorAll("[data-image]")) button.addEventListener("click", () => {
  const box = button.closest("figure").querySelector(".drawing");
  drawOnce(box);
  Plotly.downloadImage(box, { format: button.dataset.image, filename: box.dataset.figure, width: 1000, height: 560, scale: 2 });
});

field("category-label").hidden = data.categories.length < 2 || data.tag === "kind";
field("legend").textContent = `${SIGNS.right} right, ${SIGNS.wrong} wrong, ${SIGNS.none} no answer; one mark a model: ${data.models.join(", ")}.`;
fillSelect(field("category"), data.categories.map((name) => [name, name]));
fillSelect(field("kind"), [...new Set(data.items.map((item) => item.kind))].map((kind) => [kind, kind]));
fillSelect(field("verdict"), data.models.flatMap((model, number) =>
  [[`wrong:${number}`, `${model} not right`], [`right:${number}`, `${model} right`]]));
for (const filter of filters) filter.addEventListener("input", () => { shown = PAGE; draw(); });
field("items").querySelector("form").addEventListener("submit", (event) => event.preventDefault());
field("more").addEventListener("click", () => { shown += PAGE; draw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach(drawFigure));
addEventListener("beforeprint", () => { drawings.forEach(drawOnce); shown = data.items.length; draw(); });
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
drawings.slice(0, 1).forEach(drawOnce);
drawings.forEach((box) => watcher.observe(box));
document.documentElement.dataset.ready = "true";
