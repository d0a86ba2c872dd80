// The corpus, for admins: upload a file and follow its job, go back to an earlier version.
// The key is kept only in the memory of the page.

import { columnsView } from "./columns.js";
import { element, field } from "./dom.js";
import { askAdmin, problemView, runJob, waiting } from "./jobs.js";

const LONGEST_NAME = 200; // characters of a file's name

const state = { key: null, languages: [], changed: null };
const part = {};

// changed: called when the index has a new version.
export function corpusView(languages, changed) {
  Object.assign(state, { languages, changed });
  part.locked = lockedView();
  part.open = element("div", { hidden: "" });
  return [part.locked, part.open];
}

function lockedView() {
  const key = element("input", { type: "password", autocomplete: "off", required: "", form: "unlocking" });
  const message = element("div", { class: "going" });
  document.getElementById("unlocking").onsubmit = async (event) => {
    event.preventDefault();
    state.key = key.value;
    message.replaceChildren();
    try {
      part.open.replaceChildren(...openView());
      await showVersions();
      part.locked.hidden = true;
      part.open.hidden = false;
      part.open.querySelector("input").focus();
    } catch (error) {
      message.replaceChildren(problemView(error));
      key.focus();
    }
    key.value = "";
  };
  return element("section", { class: "view" }, element("h2", {}, "Change the corpus"),
    element("p", {}, "Adding sentences or going back to an earlier version requires an admin key. It is kept in this page's memory "
      + "only, until you close the page."),
    element("div", { class: "fields" }, field("Key", key), element("button", { class: "go", form: "unlocking" }, "Unlock")), message);
}

function lock() {
  state.key = null;
  part.open.hidden = true;
  part.open.replaceChildren();
  part.locked.hidden = false;
  part.locked.querySelector("input").focus();
}

// ---- a file

function openView() {
  const file = element("input", { type: "file", required: "", form: "uploading" });
  const language = element("select", { form: "uploading" }, element("option", { value: "" }, "as given in the file"),
    ...state.languages.map(({ code, name }) => element("option", { value: code }, name)));
  const replace = element("input", { type: "checkbox", form: "uploading" });
  part.start = element("button", { class: "go", form: "uploading" }, "Upload");
  part.going = element("div", { class: "going" });
  part.versions = element("div", { class: "scrolled", role: "region", "aria-label": "Versions of the index", tabindex: "0" });
  const columns = columnsView(state.languages);
  file.addEventListener("change", () => columns.show(file.files[0]));
  part.start.addEventListener("click", () => columns.check(language));
  document.getElementById("uploading").onsubmit = (event) => {
    event.preventDefault();
    const given = { language: language.value, columns: columns.mapping() };
    change("Uploading …", () => upload(file.files[0], given, replace.checked ? "build" : "add"));
  };
  return [
    element("section", { class: "view" }, element("h2", {}, "Upload a file"),
      element("p", {}, "A translation memory, a table, the texts of a program, or text with one sentence per line; compressed (gz, bz2, xz, zst) or "
        + "not. Its extension says what it is. A new version of the index is built while the current one goes on answering, and replaces it when it is complete."),
      element("div", { class: "fields" }, field("File", file), field("Language", language)), columns.view,
      element("p", { class: "ways-in" }, element("label", {}, replace, "Replace all current sentences")), part.start, part.going),
    element("section", { class: "view" }, element("h2", {}, "Versions"), part.versions),
    element("section", { class: "view" }, element("button", { type: "button", class: "plain", onclick: lock }, "Forget the key")),
  ];
}

async function upload(file, given, action) {
  const described = { ...given, name: file.name.slice(-LONGEST_NAME) };
  const query = new URLSearchParams(Object.entries(described).filter(([, value]) => value));
  const { id } = await askAdmin(state.key, `admin/uploads?${query}`, file);
  return { action, uploads: [id] };
}

// ---- a job

// Shows what becomes of a change; `prepare` returns it.
async function change(label, prepare) {
  const text = element("p", { role: "status" }, label);
  const progress = element("progress", { max: "1", "aria-label": "Progress" });
  const cancel = element("button", { type: "button", class: "plain", hidden: "" }, "Cancel");
  part.start.disabled = true;
  part.going.replaceChildren(text, progress, cancel);
  try {
    const ended = await runJob(state.key, await prepare(), (job, workers) => {
      const { stage, done, total, unit } = job;
      const many = total ? `: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${unit}` : "";
      text.textContent = waiting(job, workers) ?? stageName(stage) + many;
      if (total) progress.value = Math.min(1, done / total);
      else progress.removeAttribute("value");
      cancel.hidden = false;
      cancel.onclick = () => askAdmin(state.key, `admin/jobs/${job.id}/cancel`, {});
    });
    part.going.replaceChildren(outcome(ended));
    if (ended.state === "succeeded") await Promise.all([showVersions(), state.changed()]);
  } catch (error) {
    part.going.replaceChildren(problemView(error));
  } finally {
    part.start.disabled = false;
  }
}

function outcome(job) {
  if (job.state === "cancelled") return element("p", { role: "status" }, "Cancelled; nothing was changed.");
  if (job.state === "failed") return problemView({ problem: { title: "Nothing was changed", detail: job.reason } });
  const dropped = Object.entries(job.dropped ?? {}).map(([reason, count]) => `${count} ${reason}`).join(", ");
  const text = element("p", { role: "status" }, `Version ${job.version} is now in use.${dropped ? ` Left out: ${dropped}.` : ""}`);
  if (!job.skipped) return text;
  return element("div", {}, text, element("p", {}, `${job.skipped} could not be read${job.skipped > job.skipped_units.length ? "; the first" : ""}:`),
    element("ul", {}, ...job.skipped_units.map((unit) => element("li", {}, unit))));
}

function stageName(stage) {
  return { begun: "Started", check: "Reading the file", encode: "Encoding" }[stage] ?? stage[0].toUpperCase() + stage.slice(1);
}

// ---- versions

async function showVersions() {
  const { current, versions } = await askAdmin(state.key, "admin/versions");
  const names = ["Version", "Built", "Based on", "Sentences", ""];
  part.versions.replaceChildren(element("table", { class: "counts" },
    element("thead", {}, element("tr", {}, ...names.map((name) => element(name ? "th" : "td", name ? { scope: "col" } : {}, name)))),
    element("tbody", {}, ...versions.map((version) => versionRow(version, current)))));
}

function versionRow({ id, base, created, sentences }, current) {
  const counts = Object.entries(sentences).map(([code, count]) => `${code} ${count.toLocaleString("en")}`).join(", ");
  const back = () => change(`Switching to version ${id}`, () => ({ action: "rollback", version: id }));
  const last = id === current ? element("span", { class: "served" }, "in use")
    : element("button", { type: "button", class: "plain", "aria-label": `Use version ${id}`, onclick: back }, "Use this");
  return element("tr", {}, element("th", { scope: "row" }, id),
    ...[new Date(created).toLocaleString(), base ?? "–", counts, last].map((content) => element("td", {}, content)));
}
