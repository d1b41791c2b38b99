// What all pages share: texts, elements, requests, and work that is kept until it is saved.
export const data = JSON.parse(document.getElementById("data").textContent);
let csrf = document.querySelector("meta[name=csrf]").content;

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
  made.append(...children.flat().filter((child) => child != null && child !== false));
  return made;
}

// The server refused: status, a sentence, and what else it said (problems, events).
export class Refused extends Error {
  constructor(status, answer) { super(answer.error); Object.assign(this, answer, { status }); }
}

// The server, or its database, does not answer: what was to be sent is to be kept.
export class Unreachable extends Error {}

// Nobody is logged in any more, or somebody else is: what was to be sent is to be kept, too.
export class LoggedOut extends Unreachable {}

const PATIENCE = 8000; // milliseconds for an answer
const UPLOAD = 120000; // and for a file

export async function call(method, path, body) {
  const response = await request(method, path, body);
  // A session that was opened in another tab has a token of its own.
  if (response.status === 403 && method !== "GET" && await tokenIsNew()) return call(method, path, body);
  if (response.status === 204) return null;
  const answer = await answerOf(response);
  if (response.status === 401) throw new LoggedOut(""); // the page says so itself
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

async function request(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method, headers: { "x-csrf-token": csrf, "content-type": "application/json" },
      body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(body instanceof Blob ? UPLOAD : PATIENCE),
    });
  } catch (error) {
    throw new Unreachable(error.message);
  }
  if (response.status >= 500) throw new Unreachable(`${response.status}`);
  return response;
}

async function answerOf(response) {
  try {
    return await response.json();
  } catch (error) {
    if (response.ok) throw new Unreachable(error.message); // it was cut off
    return { error: t("status_not_understood", { status: response.status }) };
  }
}

async function tokenIsNew() {
  const response = await request("GET", "/api/session");
  if (response.status === 401) throw new LoggedOut("");
  const session = await answerOf(response);
  if (session.person !== data.person) throw new LoggedOut(t("status_other_person", { name: session.person }));
  const isNew = session.csrf !== csrf;
  csrf = session.csrf;
  return isNew;
}

export const queuePath = (path, queue = data.queue) => `/api/q/${encodeURIComponent(queue)}/${path}`;
export const itemPath = (path, item) => `${queuePath(path)}?item=${encodeURIComponent(item)}`;
export const nextTask = async (besides = "") =>
  (await call("POST", queuePath(besides ? `next?besides=${encodeURIComponent(besides)}` : "next"))).task;
export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

// Actions that are not acknowledged yet are kept in this browser, one entry each so that tabs do
// not overwrite each other's, and sent in their order until the server has them.
const PREFIX = `reelbench outbox ${data.person} `;
const memory = new Map(); // what this tab is sending, also where the browser keeps nothing
let last = Promise.resolve();

// Sends an action and resolves when the server has made it durable; onkept is called, once, when
// that has to wait. A refusal rejects.
export function save(task, type, body, { onkept = () => {} } = {}) {
  const action = { id: newId(), type, item: task.item, digest: task.digest, seen: task.seen ?? 0, body };
  const entry = { action, queue: task.queue ?? data.queue, at: Date.now() };
  keep(entry);
  tellStatus("saving");
  return inTurn(() => deliver(entry, onkept), onkept);
}

// What earlier tabs could not send; what the server refuses now is shown, not lost.
export function sendLeftovers() {
  refusedBefore().forEach(refusalCard);
  return Promise.allSettled(leftovers().map((entry) => {
    memory.set(entry.action.id, entry);
    return inTurn(() => deliver(entry, () => {})).catch(showRefused);
  }));
}

export const unsent = () => memory.size;

function inTurn(send, onkept = () => {}) {
  if (memory.size > 1) onkept(); // others wait already
  const mine = last.then(send);
  last = mine.catch(() => {});
  return mine;
}

function keep(entry) {
  memory.set(entry.action.id, entry);
  try {
    localStorage.setItem(PREFIX + entry.action.id, JSON.stringify(entry));
  } catch { /* A browser that keeps nothing: the tab does, and asks before it is closed. */ }
}

function forget(entry) {
  memory.delete(entry.action.id);
  localStorage.removeItem(PREFIX + entry.action.id);
}

function stored() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  return keys.map((key) => JSON.parse(localStorage.getItem(key))).sort((a, b) => a.at - b.at);
}

const leftovers = () => stored().filter((entry) => !entry.refused && !memory.has(entry.action.id));
const refusedBefore = () => stored().filter((entry) => entry.refused);

async function deliver(entry, onkept) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 10000)) {
    try {
      const saved = await call("POST", queuePath("events", entry.queue), entry.action);
      forget(entry);
      tellStatus(memory.size ? "saving" : "saved");
      return saved;
    } catch (error) {
      if (!(error instanceof Unreachable)) {
        forget(entry);
        tellStatus("refused", error.message);
        throw Object.assign(error, { entry });
      }
      tellUnreachable(error);
      onkept();
      await pause(wait);
    }
  }
}

// Waits, but not longer than until the person is back at the tab or the network is.
function pause(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    for (const event of ["focus", "online"]) window.addEventListener(event, resolve, { once: true });
  });
}

export function tellUnreachable(error) {
  if (error instanceof LoggedOut) tellStatus("logged_out", error.message);
  else tellStatus("kept");
}

// The line that says whether what one did is saved.
export function tellStatus(state, message = "") {
  const place = document.getElementById("status");
  if (!place || (place.dataset.state === state && state !== "refused")) return;
  place.dataset.state = state;
  const text = state === "refused" ? message : t(`status_${state}`);
  place.replaceChildren(text);
  if (state === "logged_out") {
    place.append(" ", element("a", { href: "/login", target: "_blank" }, t("status_log_in")), message ? ` ${message}` : "");
  }
}

// Says that something the page has left behind could not be kept; it stays here until it is put away.
export function showRefused(error) {
  if (!error.entry) throw error;
  const entry = { ...error.entry, refused: error.message };
  localStorage.setItem(PREFIX + entry.action.id, JSON.stringify(entry));
  refusalCard(entry);
}

function refusalCard(entry) {
  const putAway = () => { forget(entry); card.remove(); };
  const typed = textsIn(entry.action.body).join("\n");
  const card = element("div", { class: "message is-warning", role: "alert" },
    element("p", {}, t("refused_later", { item: entry.action.item, reason: entry.refused })),
    typed && element("pre", {}, typed),
    element("button", { type: "button", onclick: putAway }, t("put_away")));
  document.getElementById("main").prepend(card);
}

// The texts that someone typed, wherever they stand in what was to be sent.
export function textsIn(value) {
  if (typeof value === "string") return value.trim() ? [value] : [];
  return value && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}

window.addEventListener("beforeunload", (event) => { if (memory.size) event.preventDefault(); });
