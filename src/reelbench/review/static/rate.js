// The page where people rate items: the key in green, one scale per axis with its anchors.
import { data, element, t } from "./api.js";
import { spans } from "./diff.js";
import { keyHint, setKeys } from "./shortcuts.js";
import { commentBox, factList, labelled, layout, question } from "./layout.js";
import { markedList } from "./options.js";
import { Work } from "./work.js";

const { axes } = data.protocol;
const work = new Work({ show });
work.start();

function show(work, place) {
  const { task } = work;
  const { panel, video } = layout(work, place);
  work.state.rating ??= {};
  const send = element("button", { type: "button", class: "primary sends", onclick: rate }, t("rate_send"), keyHint("Enter"));
  const ready = () => { send.disabled = axes.some((axis) => !(axis.name in work.state.rating)); };
  const scales = axes.map((axis) => scale(axis, work.state.rating[axis.name], (value) => {
    work.keep({ rating: { ...work.state.rating, [axis.name]: value } });
    ready();
  }));
  const comment = commentBox(work);
  panel.append(
    task.calibration ? element("p", { class: "badge" }, t("rate_calibration")) : "",
    question(task), ...keyOf(task), ...scales.map((each) => each.field),
    labelled(t("comment"), comment), element("div", { class: "buttons" }, send));
  ready();

  async function rate() {
    if (send.disabled) return;
    const body = { rating: work.state.rating, comment: comment.value, watched: video.watched };
    const saved = await work.submit("rated", body);
    if (!saved) return;
    if (saved.reveal?.others) showOthers(work, panel, body.rating, saved.reveal.others);
    else await work.next();
  }

  // A digit rates the axis that has the focus, else the first that is not rated.
  const digit = (key) => {
    const focused = scales.find((each) => each.field.contains(document.activeElement));
    const next = focused ?? scales.find((each) => !(each.axis.name in work.state.rating)) ?? scales[0];
    next.set(Number(key));
  };
  setKeys([
    { keys: [..."0123456789"], label: t("rate_keys"), shown: "0–9", run: digit },
    { keys: ["Enter"], label: t("rate_send"), run: rate },
    { keys: ["Enter"], ctrl: true, quiet: true, run: rate },
  ]);
  return () => video.destroy();
}

function keyOf(task) {
  const { answer, reference, evidence } = task.reveal;
  return [
    task.options.length ? markedList(task.options, answer) : "",
    reference ? element("p", { class: "reference" }, element("b", {}, t("field_reference")), " ", reference) : "",
    evidence.length ? element("p", { class: "note" }, t("evidence_at", { spans: spans(evidence) })) : "", factList(task),
  ];
}

// One axis; it counts once it was touched, and has no value before.
function scale(axis, value, onrate) {
  const id = `axis-${axes.indexOf(axis)}`;
  const output = element("output", { for: id });
  const input = element("input", {
    type: "range", id, min: axis.lowest, max: axis.highest, step: 1, value: value ?? Math.floor((axis.lowest + axis.highest) / 2),
    "aria-describedby": `${id}-anchors`, oninput: () => set(Number(input.value)), onclick: () => set(Number(input.value)),
  });
  const field = element("div", { class: "axis" },
    element("label", { for: id }, axis.name), output,
    axis.about ? element("p", { class: "note" }, axis.about) : "", input, anchors());

  // Anchors stand under their numbers, however many there are.
  field.style.setProperty("--steps", axis.highest - axis.lowest + 1);

  function anchors() {
    const steps = Array.from({ length: axis.highest - axis.lowest + 1 }, (_, at) => axis.lowest + at);
    return element("ol", { class: "anchors", id: `${id}-anchors` }, steps.map((step) =>
      element("li", {}, element("button", { type: "button", class: "plain", tabindex: "-1", onclick: () => set(step) },
        element("b", {}, String(step)), axis.anchors[step] ? element("span", {}, axis.anchors[step]) : ""))));
  }

  function set(to) {
    if (to < axis.lowest || to > axis.highest) return;
    input.value = to;
    mark(to);
    input.focus();
    onrate(to);
  }

  function mark(to) {
    const known = to !== undefined;
    field.classList.toggle("is-untouched", !known);
    output.textContent = known ? String(to) : t("rate_untouched");
    input.setAttribute("aria-valuetext", known ? `${to} ${axis.anchors[to] ?? ""}` : t("rate_untouched"));
    [...field.querySelectorAll(".anchors li")].forEach((each, at) => each.classList.toggle("is-set", known && at === to - axis.lowest));
  }

  mark(value);
  return { field, set, axis };
}

// After a calibration item: how the others rated it.
function showOthers(work, panel, mine, others) {
  const row = (name, rating, comment = "") => element("tr", {}, element("th", { scope: "row" }, name),
    axes.map((axis) => element("td", { class: "number" }, String(rating[axis.name] ?? ""))), element("td", { class: "wide" }, comment));
  const go = element("button", { type: "button", class: "primary", onclick: () => work.next() }, t("next_item"), keyHint("Enter"));
  panel.replaceChildren(
    element("p", { class: "badge" }, t("rate_calibration")), question(work.task), ...keyOf(work.task),
    element("h2", {}, t("rate_others")),
    others.length ? "" : element("p", { class: "note" }, t("rate_first")),
    element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, element("th", {}, t("name")), axes.map((axis) => element("th", { class: "number" }, axis.name)), element("th", {}, t("comment")))),
      element("tbody", {}, row(t("rate_you"), mine), others.map((each) => row(each.who, each.rating, each.comment))))),
    element("div", { class: "buttons" }, go));
  setKeys([{ keys: ["Enter"], label: t("next_item"), run: () => work.next() }]);
  go.focus();
}
