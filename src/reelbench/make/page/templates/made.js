// Filters the items of a stage. All that the page says is there without it.
for (const form of document.querySelectorAll("form.filters")) {
  const section = document.getElementById(form.dataset.for);
  const [search, fate] = form.querySelectorAll("input, select");
  const output = form.querySelector("output");
  const groups = [...section.querySelectorAll("details.group")];
  const opened = new Set();
  const texts = new WeakMap();
  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
    return texts.get(item);
  };

  function apply() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const active = words.length > 0 || fate.value !== "";
    let count = 0;
    for (const group of groups) {
      let found = 0;
      for (const item of group.querySelectorAll("details.item")) {
        const wanted = !fate.value || item.dataset.fate === fate.value;
        item.hidden = !(wanted && words.every((word) => textOf(item).includes(word)));
        if (!item.hidden) found += 1;
      }
      group.hidden = active && found === 0;
      if (words.length && found && !group.open) { group.open = true; opened.add(group); }
      if (!words.length && opened.delete(group)) group.open = false;
      count += found;
    }
    output.textContent = active ? `${count.toLocaleString("en")} on this page match` : "";
  }

  let waiting;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
}
