// What all pages share: texts, elements, and requests that lose nothing.
export const data = JSON.parse(document.getElementById("data").textContent);
const csrf = document.querySelector("meta[name=csrf]").content;

// A text of the pages, with its slots filled in.
export function t(name, values = {}) {
  return data.strings[name].replace(/\{(\w+)\}/g, (_, slot) => values[slot]);
}

// An element with attributes (on… is a listener) and children; texts stay texts.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

// The server refused: status, a sentence, and what else it said (problems, events).
export class Refused extends Error {
  constructor(status, said) { super(said.error); Object.assign(this, said, { status }); }
}

// The server, or its database, does not answer: what was to be sent is to be kept.
export class Unreachable extends Error {}

export async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method, headers: { "x-csrf-token": csrf, "content-type": "application/json" },
      body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
    });
  } catch (error) {
    throw new Unreachable(error.message);
  }
  if (response.status >= 500) throw new Unreachable(`${response.status}`);
  if (response.status === 204) return null;
  const said = await response.json();
  if (!response.ok) throw new Refused(response.status, said);
  return said;
}

export const queuePath = (path) => `/api/q/${encodeURIComponent(data.queue)}/${path}`;
export const itemPath = (path, item) => `${queuePath(path)}?item=${encodeURIComponent(item)}`;
export const nextTask = async () => (await call("POST", queuePath("next"))).task;
export const newId = () => crypto.getRandomValues(new Uint8Array(16)).reduce((text, byte) => text + byte.toString(16).padStart(2, "0"), "");

// Actions that are not acknowledged yet are kept in this browser, and sent until they are.
const OUTBOX = `reelbench outbox ${data.person} ${data.queue}`;
const outbox = () => JSON.parse(localStorage.getItem(OUTBOX) ?? "[]");
const keepOutbox = (actions) => localStorage.setItem(OUTBOX, JSON.stringify(actions));

// Sends an action and resolves when the server has made it durable.
export async function save(task, type, body) {
  const action = { id: newId(), type, item: task.item, digest: task.digest, seen: task.seen ?? 0, body };
  keepOutbox([...outbox(), action]);
  tellStatus("saving");
  return deliver(action);
}

async function deliver(action) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 15000)) {
    try {
      const saved = await call("POST", queuePath("events"), action);
      forget(action);
      tellStatus("saved");
      return saved;
    } catch (error) {
      if (error instanceof Unreachable) {
        tellStatus("kept");
        await new Promise((resolve) => setTimeout(resolve, wait));
      } else {
        forget(action);
        tellStatus("refused", error.message);
        throw error;
      }
    }
  }
}

const forget = (action) => keepOutbox(outbox().filter((each) => each.id !== action.id));

// What an earlier tab could not send.
export const sendLeftovers = () => Promise.allSettled(outbox().map(deliver));

export function tellStatus(state, message = "") {
  const place = document.getElementById("status");
  if (!place) return;
  place.dataset.state = state;
  place.textContent = state === "refused" ? message : t(`status_${state}`);
}
