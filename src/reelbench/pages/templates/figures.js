// Draws the figures of a page with Plotly, in its colours.
const data = JSON.parse(document.getElementById("data").textContent);

function drawFigure(box) {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink");
  const line = style.getPropertyValue("--line");
  const axis = { color: ink, gridcolor: line, zerolinecolor: line };
  const { data: traces, layout } = data.figures[box.dataset.figure];
  // A circle is no wider than the screen: more height would be empty.
  const height = Math.min(layout.height ?? 400, layout.polar ? box.clientWidth + 60 : Infinity);
  if (layout.height || layout.polar) box.style.height = `${height}px`;
  const polar = layout.polar && { ...layout.polar, bgcolor: "rgba(0,0,0,0)",
    radialaxis: { ...axis, ...layout.polar.radialaxis }, angularaxis: { ...axis, type: "category", ...layout.polar.angularaxis } };
  Plotly.react(box, traces, {
    ...layout, ...(layout.height && { height }), ...(polar && { polar }),
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

for (const button of document.querySelectorAll("[data-image]")) button.addEventListener("click", () => {
  const box = button.closest("figure").querySelector(".drawing");
  drawOnce(box);
  Plotly.downloadImage(box, { format: button.dataset.image, filename: box.dataset.figure, width: 1000, height: Math.max(560, box.offsetHeight), scale: 2 });
});

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach(drawFigure));
addEventListener("beforeprint", () => drawings.forEach(drawOnce));
drawings.slice(0, 1).forEach(drawOnce);
drawings.forEach((box) => watcher.observe(box));
