// Which items are shown and in which order. All of it is in the link.
const COLUMNS = data.columns.map((column) => column.name);
const NOTHING = { search: "", outcome: "", model: "", other: "", kind: "", sort: "", item: "" };
let state = { ...NOTHING, tags: {} };

// #search=words, #item=id and the other fields; tags are tag:name=value.
function stateOf(hash) {
  const found = { ...NOTHING }, tags = [];
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (name.startsWith("tag:")) tags.push([name.slice(4), value]);
    else if (Object.hasOwn(NOTHING, name)) found[name] = value;
  }
  return { ...found, tags: Object.fromEntries(tags) };
}

function hashOf(wanted) {
  const found = new URLSearchParams();
  for (const name of Object.keys(NOTHING)) if (wanted[name]) found.set(name, wanted[name]);
  for (const [name, value] of Object.entries(wanted.tags)) if (value) found.set(`tag:${name}`, value);
  return `#${found}` === "#" ? "#items" : `#${found}`;
}

const isFiltered = (wanted) => ["search", "outcome", "model", "kind"].some((name) => wanted[name]) || Object.values(wanted.tags).some(Boolean);
const isClosed = (item) => item.kind !== "open";
const isUnread = (item) => (reply) => isClosed(item) && reply.turns.some((turn) => !turn.status && !turn.letters);
const isFailed = (item) => (reply) => !reply.turns.length ||
  reply.turns.some((turn) => turn.status && (turn.status !== "truncated" || (isClosed(item) && !turn.letters)));
const isRight = (reply) => reply.verdict === "right";
const hasChanged = (reply) => reply.before && (reply.before.verdict !== reply.verdict || reply.before.answer !== reply.answer)
  && !(reply.verdict === "graded" || reply.verdict === "unscored");
const disagrees = (item) => {
  if (isClosed(item)) return new Set(item.replies.map((reply) => reply.answer ?? "")).size > 1;
  const shares = item.replies.map((reply) => reply.share ?? 0);
  return Math.max(...shares) - Math.min(...shares) >= 0.5;
};

// Each: the words with a model and without, and whether an item has it, of these replies.
const OUTCOMES = {
  wrong: ["not right", "all wrong", (item, replies) => isClosed(item) && !replies.some(isRight)],
  right: ["right", "all right", (item, replies) => replies.every(isRight)],
  split: ["models disagree", "models disagree", disagrees],
  beats: ["right, where another is wrong", "one right, another wrong",
    (item, replies, other) => isClosed(item) && isRight(replies[0]) && !isRight(other)],
  unread: ["a reply was not read", "a reply was not read", (item, replies) => replies.some(isUnread(item))],
  failed: ["no reply", "a model has no reply", (item, replies) => replies.some(isFailed(item))],
  low: ["graded under half", "all graded under half", (item, replies) => replies.every((reply) => reply.share < 0.5)],
  changed: ["changed", "changed", (item, replies) => replies.some(hasChanged)],
};

const textOf = (() => {
  const known = new Map();
  return (item) => {
    if (!known.has(item)) {
      const replies = item.replies.flatMap((reply) => reply.turns.map((turn) => turn.text));
      known.set(item, [item.id, item.question, ...item.options ?? [], item.reference ?? "", ...replies].join("\n").toLowerCase());
    }
    return known.get(item);
  };
})();

function chosen(item, wanted) {
  const place = COLUMNS.indexOf(wanted.model);
  return place < 0 ? item.replies : [item.replies[place]];
}

// A link may name a model that is not on this page, or none: then the first two are meant.
function compared(wanted) {
  const one = Math.max(0, COLUMNS.indexOf(wanted.model));
  const other = COLUMNS.indexOf(wanted.other);
  return [one, other >= 0 && other !== one ? other : one === 0 ? 1 : 0];
}

function hasOutcome(item, wanted) {
  const outcome = Object.hasOwn(OUTCOMES, wanted.outcome) && OUTCOMES[wanted.outcome];
  if (!outcome) return true;
  if (wanted.outcome !== "beats") return outcome[2](item, chosen(item, wanted));
  const [one, other] = compared(wanted);
  return Boolean(item.replies[other]) && outcome[2](item, [item.replies[one]], item.replies[other]);
}

function matches(item, wanted) {
  const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length && !words.every((word) => textOf(item).includes(word))) return false;
  if (wanted.kind && item.kind !== wanted.kind) return false;
  for (const [name, value] of Object.entries(wanted.tags)) {
    const place = data.tags.findIndex((tag) => tag.name === name);
    if (value && place >= 0 && !item.tags[place].some((each) => data.tags[place].values[each] === value)) return false;
  }
  return hasOutcome(item, wanted);
}

const total = (values) => values.reduce((sum, value) => sum + value, 0);
const creditOf = (reply) => reply.verdict === "graded" ? reply.share : isRight(reply) ? 1 : 0;
const mostOf = (read) => (item, wanted) => -Math.max(0, ...chosen(item, wanted).flatMap((reply) => reply.turns.map(read)));
function agreement(item) {
  const counts = new Map();
  for (const reply of item.replies) {
    const answer = reply.answer ?? reply.share ?? "";
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values()) - counts.size / 100;
}

// Each: its words, and a number or text by which items are sorted.
const SORTS = {
  "": ["as in the benchmark", null],
  id: ["by id", null],
  hardest: ["hardest first", (item, wanted) => total(chosen(item, wanted).map(creditOf))],
  easiest: ["easiest first", (item, wanted) => -total(chosen(item, wanted).map(creditOf))],
  disagreement: ["most disagreement first", agreement],
  longest: ["longest reply first", mostOf((turn) => turn.text.length)],
  tokens: ["most tokens first", mostOf((turn) => (turn.took?.[1] ?? 0) + (turn.took?.[2] ?? 0))],
  slowest: ["slowest first", mostOf((turn) => turn.took?.[0] ?? 0)],
};

const inOrder = new Intl.Collator("en", { numeric: true });
function foundItems(wanted) {
  const found = data.items.filter((item) => matches(item, wanted));
  if (wanted.sort === "id") return found.sort((one, other) => inOrder.compare(one.id, other.id));
  const read = Object.hasOwn(SORTS, wanted.sort) && SORTS[wanted.sort][1];
  if (!read) return found;
  const keyed = found.map((item, place) => [read(item, wanted), place, item]);
  return keyed.sort((one, other) => one[0] - other[0] || one[1] - other[1]).map((each) => each[2]);
}
