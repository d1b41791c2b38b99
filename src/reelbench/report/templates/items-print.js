// On paper: the item that is open, or all that a filter has found, in full; else the list.
const PRINTED = 100, LISTED = 400;

function preparePrint() {
  const open = data.items.find((item) => item.id === state.item);
  const shown = open ? [open] : isFiltered(state) ? found.slice(0, PRINTED) : [];
  const left = open || !isFiltered(state) ? 0 : found.length - shown.length;
  field("printed").replaceChildren(
    left > 0 ? element("p", { class: "note" }, `The first ${number(shown.length)} of ${number(found.length)} items: filter further to print others.`) : "",
    ...shown.map((item) => {
      const sheet = element("article", { class: "sheet" }, element("h3", {}, item.id), tagList(item), ...itemBody(item, null));
      for (const each of sheet.querySelectorAll("details")) each.open = true;
      for (const each of sheet.querySelectorAll(".long")) each.classList.remove("long");
      for (const each of sheet.querySelectorAll("img")) each.loading = "eager";
      return sheet;
    }));
  field("items").classList.toggle("sheets", shown.length > 0);
  if (!shown.length) { from = 0; to = Math.min(found.length, LISTED); drawRows(); }
}

addEventListener("beforeprint", preparePrint);
addEventListener("afterprint", () => { field("printed").replaceChildren(); field("items").classList.remove("sheets"); });
