// The corpus, for admins: upload a file and follow its job, go back to an earlier version.
// The key is kept only in the memory of the page.

import { columnsView } from "./columns.js";
import { UNREACHABLE, ask, element } from "./dom.js";

const FORMATS = { tmx: "TMX", xliff: "XLIFF", po: "PO", tsv: "TSV", csv: "CSV", jsonl: "JSON Lines", txt: "Text, one sentence per line" };
const EXTENSIONS = { xlf: "xliff", xliff: "xliff", tmx: "tmx", po: "po", pot: "po", tsv: "tsv", csv: "csv", jsonl: "jsonl", ndjson: "jsonl", txt: "txt" };
const COMPRESSIONS = ["gz", "bz2", "xz", "zst"];
const END_STATES = ["succeeded", "failed", "cancelled"];
const LONGEST_NAME = 200; // characters of a file's name
const RECONNECT_PAUSE = 2000; // milliseconds before a stream of events is opened again

const NO_KEY = { title: "Not an admin key", detail: "The service does not accept this key for changes: see its setting admin_keys." };

const state = { key: null, job: null, upload: null, languages: [], changed: null };
const part = {};

export function corpusView(languages, changed) {
  Object.assign(state, { languages, changed });
  part.locked = lockedView();
  part.open = element("div", { hidden: "" });
  return [part.locked, part.open];
}

function call(path, body, signal) {
  return ask(path, body, signal, { "X-API-Key": state.key });
}

function field(label, control) {
  return element("label", { class: "field" }, label, control);
}

function problem({ title, detail }) {
  return element("div", { class: "problem", role: "alert" }, element("h3", {}, title ?? "Something went wrong"),
    element("p", {}, detail ?? "The service gave no reason."));
}

// ---- the key

function lockedView() {
  const key = element("input", { type: "password", autocomplete: "off", required: "", form: "unlocking" });
  const message = element("div", { class: "going" });
  document.getElementById("unlocking").addEventListener("submit", async (event) => {
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
      state.key = null;
      message.replaceChildren(problem(error.problem?.status === 401 ? NO_KEY : error.problem ?? UNREACHABLE));
      key.focus();
    }
    key.value = "";
  });
  return element("section", { class: "view" }, element("h2", {}, "Change the corpus"),
    element("p", {}, "Adding sentences or going back to an earlier version requires an admin key. It is kept in this page's memory "
      + "only, until you close the page."),
    element("div", { class: "fields" }, field("Key", key), element("button", { class: "go", form: "unlocking" }, "Unlock")), message);
}

function lock() {
  state.key = null;
  state.upload?.abort();
  state.job?.abort();
  part.open.hidden = true;
  part.open.replaceChildren();
  part.locked.hidden = false;
  part.locked.querySelector("input").focus();
}

// ---- a file

function openView() {
  const file = element("input", { type: "file", required: "", form: "uploading" });
  const form = element("select", { form: "uploading" }, ...Object.entries(FORMATS).map(([value, name]) => element("option", { value }, name)));
  const language = element("select", { form: "uploading" }, element("option", { value: "" }, "as given in the file"),
    ...state.languages.map(({ code, name }) => element("option", { value: code }, name)));
  const ways = [way("add", "Add to the current sentences", true), way("build", "Replace all current sentences", false)];
  part.start = element("button", { class: "go", form: "uploading" }, "Upload");
  part.going = element("div", { class: "going" });
  part.versions = element("div", { class: "scrolled", role: "region", "aria-label": "Versions of the index", tabindex: "0" });
  const columns = columnsView(state.languages);
  const showColumns = () => columns.show(file.files[0], form.value, compression(file.files[0]));
  file.addEventListener("change", () => {
    const format = EXTENSIONS[plain(file.files[0]?.name ?? "").at(-1)];
    if (format) form.value = format;
    showColumns();
  });
  form.addEventListener("change", showColumns);
  part.start.addEventListener("click", () => columns.check(language));
  document.getElementById("uploading").onsubmit = (event) => {
    event.preventDefault();
    const action = ways.map((label) => label.querySelector("input")).find((input) => input.checked).value;
    add(file.files[0], { format: form.value, language: language.value, columns: columns.mapping() }, action);
  };
  return [
    element("section", { class: "view" }, element("h2", {}, "Upload a file"),
      element("p", {}, "A translation memory or other sentences, optionally compressed (", COMPRESSIONS.join(", "), "). A new version of the index is "
        + "built while the current one goes on answering, and replaces it when it is complete."),
      element("div", { class: "fields" }, field("File", file), field("Format", form), field("Language", language)), columns.view,
      element("fieldset", { class: "ways-in" }, element("legend", { class: "unseen" }, "What to do with it"), ...ways),
      part.start, part.going),
    element("section", { class: "view" }, element("h2", {}, "Versions"), part.versions),
    element("section", { class: "view" }, element("button", { type: "button", class: "plain", onclick: lock }, "Forget the key")),
  ];
}

function way(value, text, checked) {
  const input = element("input", { type: "radio", name: "way", value, form: "uploading" });
  input.checked = checked;
  return element("label", {}, input, text);
}

// The extensions of a name without that of its compression.
function plain(name) {
  const parts = name.toLowerCase().split(".").slice(1);
  return COMPRESSIONS.includes(parts.at(-1)) ? parts.slice(0, -1) : parts;
}

function compression(file) {
  const last = file?.name.toLowerCase().split(".").at(-1);
  return COMPRESSIONS.includes(last) ? last : "none";
}

// description: the query parameters of the upload; empty ones are left out.
async function add(file, description, action) {
  const given = Object.entries(description).filter(([, value]) => value);
  const query = new URLSearchParams([...given, ["compression", compression(file)], ["name", file.name.slice(-LONGEST_NAME)]]);
  await runJob("Uploading", async (show) => {
    const { id } = await upload(`admin/uploads?${query}`, file, (done) => show("Uploading", done, file.size));
    return { action, uploads: [id] };
  });
}

// fetch does not report upload progress.
function upload(path, file, progress) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    state.upload = request;
    request.open("POST", path);
    request.setRequestHeader("X-API-Key", state.key);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => progress(event.loaded));
    request.addEventListener("load", () => (request.status === 201
      ? done(request.response) : fail(Object.assign(new Error("refused"), { problem: request.response }))));
    request.addEventListener("error", () => fail(new Error("gone")));
    request.addEventListener("abort", () => fail(Object.assign(new Error("ended"), { name: "AbortError" })));
    request.send(file);
  });
}

// ---- a job

// Shows progress from the first byte to the new version; `prepare` returns the change to request.
async function runJob(label, prepare) {
  const text = element("p", { role: "status" }, label);
  const progress = element("progress", { max: "1", "aria-label": "Progress" });
  const cancel = element("button", { type: "button", class: "plain" }, "Cancel");
  const show = (stage, done, total, unit = "") => {
    const many = total && unit ? `: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${unit}` : "";
    text.textContent = stage + many;
    if (total) progress.value = Math.min(1, done / total);
    else progress.removeAttribute("value");
  };
  cancel.addEventListener("click", () => (state.job ? call(`admin/jobs/${state.job.id}/cancel`, {}) : state.upload?.abort()));
  part.start.disabled = true;
  part.going.replaceChildren(text, progress, cancel);
  try {
    const change = await prepare(show);
    show("Waiting for a worker");
    const job = await call("admin/jobs", change);
    const ended = await follow(job, show);
    part.going.replaceChildren(outcome(ended));
    if (ended.state === "succeeded") await Promise.all([showVersions(), state.changed()]);
  } catch (error) {
    part.going.replaceChildren(error.name === "AbortError" ? element("p", { role: "status" }, "Cancelled.") : problem(error.problem ?? UNREACHABLE));
  } finally {
    state.job = null;
    state.upload = null;
    part.start.disabled = false;
  }
}

function outcome(job) {
  if (job.state === "cancelled") return element("p", { role: "status" }, "Cancelled; nothing was changed.");
  if (job.state === "failed") return problem({ title: "Nothing was changed", detail: job.reason });
  const dropped = Object.entries(job.dropped ?? {}).map(([reason, count]) => `${count} ${reason}`).join(", ");
  const text = element("p", { role: "status" }, `Version ${job.version} is now in use.${dropped ? ` Left out: ${dropped}.` : ""}`);
  if (!job.skipped) return text;
  return element("div", {}, text, element("p", {}, `${job.skipped} could not be read${job.skipped > job.skipped_units.length ? "; the first" : ""}:`),
    element("ul", {}, ...job.skipped_units.map((unit) => element("li", {}, unit))));
}

// EventSource cannot send a key, so the stream is read here, and resumed where it was cut off.
async function follow(job, show) {
  const control = new AbortController();
  state.job = Object.assign(control, { id: job.id });
  const { workers } = await call("admin/jobs");
  if (!workers) show("Waiting for a worker. None is running: start “passepartout jobs”.");
  let last = null;
  for (;;) {
    const headers = { "X-API-Key": state.key, ...(last && { "Last-Event-ID": last }) };
    const response = await fetch(`admin/jobs/${job.id}/events`, { headers, signal: control.signal }).catch((error) => {
      if (error.name === "AbortError") throw error;
      return null;
    });
    if (response?.ok) {
      for await (const line of lines(response.body)) {
        if (line.startsWith("id: ")) last = line.slice(4);
        if (!line.startsWith("data: ")) continue;
        const event = JSON.parse(line.slice(6));
        if (END_STATES.includes(event.state)) return event;
        if (event.stage) show(stageName(event.stage), event.done, event.total, event.unit);
      }
    }
    await new Promise((later) => { setTimeout(later, RECONNECT_PAUSE); });
    const now = await call(`admin/jobs/${job.id}`, undefined, control.signal);
    if (END_STATES.includes(now.state)) return now;
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true }));
    if (done) return;
    const complete = (rest + value).split("\n");
    rest = complete.pop();
    yield* complete;
  }
}

function stageName(stage) {
  const name = state.languages.find(({ code }) => stage === `encode ${code}`)?.name;
  if (name) return `Encoding ${name}`;
  return { begun: "Started", check: "Reading the file" }[stage] ?? stage[0].toUpperCase() + stage.slice(1);
}

// ---- versions

async function showVersions() {
  const { current, versions } = await call("admin/versions");
  const names = ["Version", "Built", "Based on", "Sentences", ""];
  part.versions.replaceChildren(element("table", { class: "counts" },
    element("thead", {}, element("tr", {}, ...names.map((name) => element(name ? "th" : "td", name ? { scope: "col" } : {}, name)))),
    element("tbody", {}, ...versions.map((version) => versionRow(version, current)))));
}

function versionRow({ id, base, created, sentences }, current) {
  const counts = Object.entries(sentences).map(([code, count]) => `${code} ${count.toLocaleString("en")}`).join(", ");
  const back = () => runJob(`Switching to version ${id}`, async () => ({ action: "rollback", version: id }));
  const last = id === current ? element("span", { class: "served" }, "in use")
    : element("button", { type: "button", class: "plain", "aria-label": `Use version ${id}`, onclick: back }, "Use this");
  return element("tr", {}, element("th", { scope: "row" }, id),
    ...[new Date(created).toLocaleString(), base ?? "–", counts, last].map((content) => element("td", {}, content)));
}
