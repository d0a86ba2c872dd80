// Teach a language: the user names pictograms in it; a job learns from that. The browser keeps what was typed.

import { UNREACHABLE, ask, element, field } from "./dom.js";
import { problemView, runJob, waiting } from "./jobs.js";

const PICTURES_AT_A_TIME = 24;
const MIN_LINES = 10; // fewer teach nothing
const TERRITORY = /-([A-Z]{2}|[0-9]{3})$/; // en-GB is English
const LANGUAGE_CODE = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/;
const STORAGE_PREFIX = "teach:"; // followed by the language code: the key of what was typed
const LAST_CODE = "teach"; // the key of the code that was entered last
const PICTOGRAM = /^pictograms\/([0-9a-f]+(?:-[0-9a-f]+)*)$/; // named by the code points of its emoji

const SEARCH_PAUSE = 300; // milliseconds after the last letter of a search

// settled: what was typed is of this code for sure, since it was taught or loaded.
const state = { first: [], pictures: [], shown: 0, code: "", typed: {}, settled: false };
const part = {};

// taught: called when the index has one more language.
export function teachView(languages, taught) {
  Object.assign(state, { languages, taught });
  part.code = element("input", { id: "teach-code", type: "text", maxlength: "11", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    form: "teaching", placeholder: "gn", required: "", "aria-describedby": "teach-code-told" });
  part.told = element("p", { id: "teach-code-told", class: "quiet", role: "status" });
  part.search = element("input", { id: "teach-search", type: "text", maxlength: "100", autocomplete: "off", dir: "auto", placeholder: "dog" });
  part.cards = element("ul", { class: "wall taught" });
  part.status = element("p", { class: "quiet", role: "status" });
  part.more = element("button", { type: "button", class: "plain", onclick: showMore }, "More pictures");
  part.count = element("p", { class: "quiet", role: "status" });
  part.key = element("input", { id: "teach-key", type: "password", autocomplete: "off", form: "teaching" });
  part.start = element("button", { class: "go", form: "teaching" }, "Teach");
  part.file = element("input", { type: "file", accept: ".tsv,.txt", form: "teaching" });
  part.going = element("div", { class: "going" });
  part.trying = element("section", { class: "view", hidden: "" });
  part.dictionary = element("section", { class: "dictionary" });
  part.code.addEventListener("input", check);
  part.code.addEventListener("change", recall);
  part.file.addEventListener("change", () => part.file.files[0] && load(part.file.files[0]));
  let pause;
  part.search.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(search, SEARCH_PAUSE);
  });
  document.getElementById("teaching").onsubmit = (event) => {
    event.preventDefault();
    teach();
  };
  return [
    element("section", { class: "view" }, element("h2", {}, "Teach a language"),
      element("p", {}, "Say what the pictures are called in a language that is not here yet and, if you like, write a phrase about each. "
        + "Thirty are a start, three hundred are better. What you type is kept in this browser, also after it was taught. To go on in another "
        + "one, or to hand it to a colleague, download it as TSV and load it there."),
      element("div", { class: "fields" }, field("Its code, such as gn, or qaa to qtz if it has none", part.code),
        field("Find a picture, in a language that is here", part.search), field("Load what was downloaded", part.file)),
      part.told, part.cards, part.status, part.more),
    element("section", { class: "view" }, part.count,
      element("div", { class: "fields" }, field("Admin key", part.key), part.start,
        element("button", { type: "button", class: "plain", onclick: download }, "Download as TSV"),
        element("button", { type: "button", class: "plain", onclick: downloadCards }, "Flash cards (TSV)"),
        element("button", { type: "button", class: "plain", onclick: () => window.print() }, "Print a picture dictionary")), part.going),
    part.trying, part.dictionary,
  ];
}

// Loads the pictures when the tab is first opened.
export async function beginTeaching() {
  if (state.first.length) return;
  await list("teach/pictures");
  state.first = state.pictures;
  if (!part.code.value) part.code.value = stored(LAST_CODE) ?? "";
  state.settled = true; // unlike lines that are typed before their code
  check();
  recall();
  count();
}

async function list(path) {
  part.status.textContent = "Looking …";
  const loading = state.loading = new AbortController();
  try {
    const { results } = await ask(path, null, loading.signal);
    const none = part.search.value.trim() ? "No picture is near to this: try another word." : "The encoder of this index carries no pictures to teach with.";
    part.status.textContent = results.length ? "" : none;
    show(results);
  } catch (error) {
    if (!loading.signal.aborted) part.status.textContent = (error.problem ?? UNREACHABLE).detail ?? UNREACHABLE.detail;
  }
}

function show(pictures) {
  Object.assign(state, { pictures, shown: 0 });
  part.cards.replaceChildren();
  showMore();
}

async function search() {
  const text = part.search.value.trim();
  state.loading?.abort(); // what is typed last counts
  if (!text) return show(state.first);
  await list(`teach/pictures?${new URLSearchParams({ like: text })}`);
}

function showMore() {
  const next = state.pictures.slice(state.shown, state.shown + PICTURES_AT_A_TIME);
  state.shown += next.length;
  part.cards.append(...next.map(card));
  part.more.hidden = state.shown >= state.pictures.length;
}

function card({ picture, emoji }) {
  const [name, phrase] = ["its name", "a phrase"].map((hint, row) => {
    const input = element("input", { type: "text", maxlength: "200", autocomplete: "off", spellcheck: "false", dir: "auto", placeholder: hint,
      "aria-label": `${emoji} ${hint}`, "data-picture": picture, "data-row": row, form: "teaching" });
    input.value = state.typed[picture]?.[row] ?? "";
    input.addEventListener("input", () => typed(picture, row, input.value));
    return input;
  });
  return element("li", { class: "card" }, element("p", { class: "card-picture" }, element("span", { class: "seen" }, emoji)), name, phrase);
}

// ---- what was typed

function typed(picture, row, value) {
  (state.typed[picture] ??= ["", ""])[row] = value;
  keep();
}

function keep() {
  count();
  if (!state.code) return;
  try {
    localStorage.setItem(STORAGE_PREFIX + state.code, JSON.stringify(state.typed));
    localStorage.setItem(LAST_CODE, state.code);
  } catch {
    // Storage is blocked: what was typed is lost with the page unless it is downloaded.
  }
}

function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // storage is blocked
  }
}

// Says at once that a language is here already, unless this browser has what it was taught.
function check() {
  const code = given(), known = state.languages.find((one) => [code, code.replace(TERRITORY, "")].includes(one.code));
  part.told.textContent = known && !stored(STORAGE_PREFIX + code) ? `${known.name} (${known.code}) is here already: give the code of another `
    + "language. If it was taught here, load what was downloaded then to teach it more." : "";
}

// The standard form of the code that was entered: epo and EO are eo; "" if it is none, or not yet.
function given() {
  try {
    const [code] = Intl.getCanonicalLocales(part.code.value.trim());
    return LANGUAGE_CODE.test(code) ? code : "";
  } catch {
    return "";
  }
}

function recall() {
  if (given() && !part.told.textContent) take(given(), {});
}

// Shows the lines that are kept of a language, with others from a file. If there are none, what was typed is taken for its own.
function take(code, loaded) {
  if (code !== state.code) {
    const kept = JSON.parse(stored(STORAGE_PREFIX + code)) ?? {}, own = state.settled && state.code;
    const typed = (Object.keys(kept).length && state.code) || own ? {} : state.typed;
    Object.assign(state, { code, settled: false, typed: { ...kept, ...typed } });
  }
  Object.assign(state.typed, loaded);
  for (const input of part.cards.querySelectorAll("input")) {
    input.value = state.typed[input.dataset.picture]?.[Number(input.dataset.row)] ?? "";
  }
  keep();
}

// Takes up captions as they were downloaded, of the language entered or else of that in the file's name.
async function load(file) {
  const rows = (await file.text()).split(/\r?\n/).map((line) => line.split("\t").map((cell) => cell.trim()));
  const wrong = rows.findIndex((cells) => cells.join("") && !(cells.length === 2 && cells.every(Boolean)));
  part.file.value = "";
  if (wrong >= 0) return refuse(part.file, `${file.name}, line ${wrong + 1}: give a picture, a tab and a text.`);
  part.code.value ||= file.name.match(/\.([A-Za-z-]+)\.tsv$/)?.[1] ?? "";
  if (!given()) return refuse(part.code, "Give the language's code first, such as gn, wo or zh-Hant.");
  const loaded = {};
  for (const [picture, text] of rows.filter((cells) => cells.length === 2)) (loaded[full(picture)] ??= []).push(text);
  take(given(), loaded);
  state.settled = true;
  check();
}

// The name of a picture that is given by its emoji.
function full(picture) {
  if (/^[\w./-]+$/.test(picture)) return picture;
  const points = Array.from(picture.replace(/\ufe0f$/, ""), (character) => character.codePointAt(0).toString(16));
  return `pictograms/${points.join("-")}`;
}

function lines() {
  return Object.entries(state.typed).flatMap(([picture, texts]) => texts.map((text) => text.replace(/\s+/g, " ").trim())
    .filter(Boolean).map((text) => ({ picture, text })));
}

function count() {
  const many = lines().length;
  part.count.textContent = many === 1 ? "1 line typed." : `${many} lines typed.`;
  part.dictionary.replaceChildren(...named().map(({ emoji, name, phrase }) => element("figure", {}, element("span", { class: "seen" }, emoji),
    element("figcaption", { dir: "auto", lang: state.code }, element("strong", {}, name), phrase))));
}

// What was typed, pictogram by pictogram.
function named() {
  const emoji = (picture) => String.fromCodePoint(...picture.match(PICTOGRAM)[1].split("-").map((point) => parseInt(point, 16)), 0xfe0f);
  return Object.entries(state.typed).filter(([picture]) => PICTOGRAM.test(picture))
    .map(([picture, [name, ...phrases]]) => ({ emoji: emoji(picture), name: name.trim(), phrase: phrases.join(" ").trim() }))
    .filter(({ name, phrase }) => name || phrase);
}

// Captions, as `passepartout learn-language --captions` reads them.
function download() {
  save("captions", lines().map(({ picture, text }) => [picture, text]));
}

function downloadCards() {
  save("cards", named().map(({ emoji, name, phrase }) => [emoji, name, phrase]));
}

function save(name, rows) {
  if (!rows.length) return refuse(part.cards.querySelector("input") ?? part.code, "Nothing is typed yet.");
  const table = rows.map((row) => `${row.map((cell) => cell.replace(/\s+/g, " ")).join("\t")}\n`).join("");
  const address = URL.createObjectURL(new Blob([table], { type: "text/tab-separated-values" }));
  element("a", { href: address, download: `${name}.${given() || "new"}.tsv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// ---- learning

async function teach() {
  const language = given(), captions = lines();
  if (!language) return refuse(part.code, "Give the language's code, such as gn, wo or zh-Hant.");
  if (part.told.textContent) return refuse(part.code, part.told.textContent);
  if (captions.length < MIN_LINES) return refuse(part.cards.querySelector("input") ?? part.code, `Name ${MIN_LINES} pictures or more.`);
  const text = element("p", { role: "status" }, "Waiting for a worker …");
  part.going.replaceChildren(text);
  part.start.disabled = true;
  try {
    const job = await runJob(part.key.value, { action: "teach", language, captions }, (now, workers) => {
      text.textContent = waiting(now, workers) ?? "Learning …";
    });
    if (job.state !== "succeeded") throw Object.assign(new Error("failed"), { problem: { title: "Nothing was learned", detail: job.reason } });
    text.textContent = outcome(job);
    state.settled = true;
    await state.taught();
    tryIt(language);
  } catch (error) {
    part.going.replaceChildren(problemView(error));
  } finally {
    part.start.disabled = false;
  }
}

function refuse(control, message) {
  part.going.replaceChildren(element("p", { role: "alert" }, message));
  control.focus();
}

function outcome({ taught }) {
  if (!taught) return "Learned.";
  const measured = taught.asked ? ` Of ${taught.asked} lines that were left out to measure, ${Math.round(taught.r10)}% find their picture among `
    + `the ten nearest (by chance: ${taught.chance}%).` : " Too few lines to measure what was learned.";
  return `Learned from ${taught.lines} lines.${measured} Its words are translated now, both ways. Phrases are answers only once a table with a `
    + `column ${taught.language} is added to the index.`;
}

function tryIt(language) {
  const targets = state.languages.filter(({ sentences }) => sentences);
  const text = element("input", { id: "try-text", type: "text", maxlength: "200", form: "trying", dir: "auto", lang: language });
  const target = element("select", { id: "try-target", form: "trying" }, ...targets.map(({ code, name }) => element("option", { value: code }, name)));
  const answers = element("ol", { class: "tried" });
  document.getElementById("trying").onsubmit = async (event) => {
    event.preventDefault();
    if (!text.value.trim()) return;
    try {
      const { results } = await ask("translate/sentence", { text: text.value, source: language, target: [target.value], k: 3 });
      const rows = results[0].translations[target.value];
      answers.replaceChildren(...rows.map((row) => element("li", { lang: target.value, dir: "auto" }, row.text)));
      if (!rows.length) answers.replaceChildren(element("li", {}, "Nothing in the index is near."));
    } catch (error) {
      answers.replaceChildren(element("li", {}, (error.problem ?? UNREACHABLE).detail ?? UNREACHABLE.detail));
    }
  };
  part.trying.replaceChildren(element("h2", {}, "Try it"),
    element("div", { class: "fields" }, field("In the new language", text), field("Into", target),
      element("button", { class: "go", form: "trying" }, "Translate")), answers);
  part.trying.hidden = false;
  text.focus();
}
