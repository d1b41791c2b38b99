// The list of items: a row each, a column for each model. Only the rows around the one in use are
// on the page, however many items there are.
const CHUNK = 60;
let found = [], from = 0, to = 0;

function drawHead() {
  field("list-head").replaceChildren(
    element("th", { scope: "col", role: "columnheader" }, "Item"),
    ...COLUMNS.map((name, place) => element("th", { scope: "col", role: "columnheader", class: "name", title: name }, element("span", {}, data.columns[place].model, ...data.columns[place].several ? [" ", element("small", {}, data.columns[place].condition)] : []))));
}

function row(item) {
  const link = element("a", { href: hashOf({ ...state, item: item.id }), class: "id" }, item.id);
  const made = element("tr", { id: `item-${item.id}`, role: "row" },
    element("th", { scope: "row", role: "rowheader" }, link, " ", prose("span", item.question, { class: "text" })),
    ...item.replies.map((reply, column) => {
      const words = outcomeWords(reply);
      const cell = element("td", { role: "cell", class: `dot is-${reply.verdict}`, title: `${COLUMNS[column]}: ${words}` },
        element("span", { "aria-hidden": "true" }, signOf(reply)), hidden(words));
      if (hasChanged(reply)) cell.classList.add("changed");
      return cell;
    }));
  if (item.id === state.item) made.setAttribute("aria-current", "true");
  return made;
}

function drawRows() {
  field("list-body").replaceChildren(...found.slice(from, to).map(row));
  drawEnds();
}

function drawEnds() {
  field("earlier").hidden = from === 0;
  field("more").hidden = to >= found.length;
  field("more").textContent = `Show more (${number(found.length - to)} left)`;
}

function showMore() {
  const next = Math.min(found.length, to + CHUNK);
  field("list-body").append(...found.slice(to, next).map(row));
  to = next;
  drawEnds();
}

function showEarlier() {
  const next = Math.max(0, from - CHUNK);
  field("list-body").prepend(...found.slice(next, from).map(row));
  from = next;
  drawEnds();
}

// Choose the rows: the first ones, or those around an item.
function showAround(place) {
  from = place < CHUNK / 2 ? 0 : place - CHUNK / 4;
  to = Math.min(found.length, Math.max(from, place) + CHUNK);
  drawRows();
}

const rowOf = (id) => document.getElementById(`item-${id}`);

function markRow(id) {
  for (const each of field("list-body").querySelectorAll("[aria-current]")) each.removeAttribute("aria-current");
  const place = found.findIndex((item) => item.id === id);
  if (place >= 0 && (place < from || place >= to)) showAround(place);
  const wanted = id && rowOf(id);
  if (!wanted) return;
  wanted.setAttribute("aria-current", "true");
  const pane = field("list-pane"), top = wanted.offsetTop - field("list-head").offsetHeight;
  if (pane.scrollHeight > pane.clientHeight && (top < pane.scrollTop || wanted.offsetTop + wanted.offsetHeight > pane.scrollTop + pane.clientHeight))
    pane.scrollTop = Math.max(0, top - pane.clientHeight / 3);
}

function moveInList(way) {
  const links = [...field("list-body").querySelectorAll("a.id")];
  const place = links.indexOf(document.activeElement);
  if (place === links.length - 1 && way > 0 && to < found.length) { showMore(); return moveInList(way); }
  if (place === 0 && way < 0 && from > 0) { showEarlier(); return moveInList(way); }
  links[Math.max(0, Math.min(links.length - 1, place + way))]?.focus();
}
