// Saves the tables of a page as CSV, Markdown and LaTeX, as Table in table.py writes them.
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

// The page may carry its tables as the command writes them; what it does not carry is read off it.
let carried;
const written = (name, kind) =>
  (carried ??= JSON.parse(document.getElementById("data")?.textContent ?? "{}").tables ?? {})[name]?.[kind];

for (const button of document.querySelectorAll("[data-table]")) button.addEventListener("click", () => {
  const kind = button.dataset.table, { name } = button.closest("[data-name]").dataset;
  save(`${name.replace(/\W+/g, "-")}.${kind}`, written(name, kind) ?? FORMS[kind](cellsOf(button)), "text/plain");
});

function cellsOf(button) {
  const table = button.closest(".tabled").querySelector("table");
  const rows = [...table.rows].map((row) => [...row.cells].filter((cell) => !cell.classList.contains("chart")).map(cellText));
  // A heading over all columns is one cell here, and as many there.
  rows.forEach((row) => row.push(...Array(rows[0].length - row.length).fill("")));
  return rows;
}
