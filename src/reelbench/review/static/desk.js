// The organiser's desk: numbers that stay fresh, people, invitations, results and candidates.
import { call, element, t } from "./api.js";

const byId = (id) => document.getElementById(id);
const say = (text, isWrong = false) => { byId("message").textContent = text; byId("message").classList.toggle("error", isWrong); };
const words = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);

// Do something, say what came of it, and show the page as it is then.
async function attempt(work, done) {
  try {
    await work();
    if (done) say(done);
  } catch (error) {
    say(error.message, true);
  }
}

async function refresh(id, path) {
  const response = await fetch(path);
  if (response.ok) byId(id).innerHTML = await response.text();
}
const refreshNumbers = () => refresh("numbers", "/desk/numbers");
const refreshTeam = () => refresh("team", "/desk/people");

// Numbers change while people work; what an organiser is about to click must not move.
setInterval(() => {
  const busy = byId("numbers").contains(document.activeElement) || byId("numbers").matches(":hover");
  if (!document.hidden && !busy) refreshNumbers().catch(() => {});
}, 10000);

byId("numbers").addEventListener("click", ({ target }) => {
  const button = target.closest("[data-release]");
  if (!button) return;
  const { queue, item, who } = button.dataset;
  attempt(async () => { await call("POST", "/api/desk/release", { queue, item, who }); await refreshNumbers(); }, t("desk_released", { item }));
});

byId("team").addEventListener("input", ({ target }) => {
  const save = target.closest("tr")?.querySelector("[data-save]");
  if (save) save.disabled = false;
});
byId("team").addEventListener("click", ({ target }) => {
  const save = target.closest("[data-save]");
  const revoke = target.closest("[data-revoke]");
  if (save) savePerson(save.closest("tr"));
  if (revoke) attempt(async () => { await call("POST", "/api/desk/revoke", { key: revoke.dataset.revoke }); await refreshTeam(); }, t("desk_revoked"));
});

function savePerson(row) {
  const name = row.dataset.person;
  const field = (key) => row.querySelector(`[name=${key}]`);
  const changed = { name, role: field("role").value, expertise: words(field("expertise").value), active: field("active").checked };
  attempt(async () => { await call("POST", "/api/desk/person", changed); await refreshTeam(); }, t("desk_saved", { person: name }));
}

byId("invite-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  attempt(async () => {
    const { link } = await call("POST", "/api/desk/invite", { role: form.get("role"), expertise: words(form.get("expertise")) });
    const place = byId("invite-link");
    place.hidden = false;
    place.querySelector("input").value = link;
    place.querySelector("input").select();
    await refreshTeam();
  }, t("desk_invited"));
});
byId("copy").addEventListener("click", () => attempt(() => navigator.clipboard.writeText(byId("invite-link").querySelector("input").value), t("desk_copied")));

// What would change is shown first; only that is then done.
let shown;
byId("apply").addEventListener("click", () => attempt(async () => {
  shown = await call("GET", "/api/desk/plan");
  byId("confirm-body").replaceChildren(...planned(shown));
  byId("confirm-yes").disabled = !shown.new;
  byId("confirm").showModal();
}));
byId("confirm-no").addEventListener("click", () => byId("confirm").close());
byId("confirm-yes").addEventListener("click", () => {
  byId("confirm").close();
  attempt(async () => {
    const { kept } = await call("POST", "/api/desk/apply", { digest: shown.digest });
    say(kept ? t("desk_applied_kept", { file: kept }) : t("desk_applied"));
    await refreshNumbers();
  });
});

function planned({ counts, ids, recipe }) {
  const lines = ["accepted", "changed", "added", "removed", "outdated"].filter((name) => counts[name]).map((name) =>
    element("li", {}, t(`desk_plan_${name}`, { count: counts[name] }), ids[name]?.length ? element("small", {}, ` ${ids[name].join(", ")}${counts[name] > ids[name].length ? " …" : ""}`) : null));
  const list = lines.length ? element("ul", {}, ...lines) : element("p", {}, t("desk_plan_nothing"));
  const total = element("p", {}, t("desk_plan_total", { count: counts.items }));
  return [list, total, ...(recipe ? [element("p", { class: "warning" }, t("desk_plan_recipe", { recipe }))] : [])];
}

byId("import-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const [file] = event.target.elements.file.files;
  const place = byId("import-result");
  attempt(async () => {
    place.replaceChildren();
    try {
      const { new: count } = await call("POST", `/api/desk/import?name=${encodeURIComponent(file.name)}`, file);
      say(t("desk_imported", { count }));
      event.target.reset();
      await refreshNumbers();
    } catch (error) {
      if (!error.problems?.length) throw error;
      place.append(element("p", { class: "error" }, t("desk_import_wrong", { count: error.problems.length })), problemTable(error.problems));
    }
  });
});

function problemTable(problems) {
  const names = ["line", "field", "found", "expected"];
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, t(`desk_problem_${name}`))));
  const rows = problems.map((each) => element("tr", {}, ...names.map((name) => element("td", { class: "wrap" }, each[name]))));
  return element("div", { class: "scroll tall" }, element("table", { class: "dense" }, element("thead", {}, head), element("tbody", {}, ...rows)));
}
