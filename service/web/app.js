// The page: reads the form, asks the API, shows the answers.

import { UNREACHABLE, ask, copy, element } from "./dom.js";
import { resultView, seen, shipped } from "./answers.js";
import { corpusView } from "./corpus.js";
import { fileView } from "./files.js";
import { languagesView } from "./languages.js";
import { phrasesView, readTable, showPhrases } from "./phrases.js";
import { browse, browsed, scenesView } from "./scenes.js";
import { beginTeaching, teachView } from "./teach.js";

const KINDS = { sentence: "text", word: "word" };
const HINTS = {
  sentence: { label: "Sentence to translate", placeholder: "A dog runs on the beach." },
  word: { label: "Word to translate", placeholder: "beach" },
};
// Examples to try of the shipped sentences: a text, and what its answer shows. Another index shows its own sentences.
const EXAMPLES = {
  sentence: [["A dog runs on the beach.", "a scene that it holds"], ["An old woman sells fish.", "the same scene with other details"],
    ["Interest rates rose by half a point.", "nothing to see: it should say so"]],
  word: [["dog", "a word"], ["beach", "a place"], ["snow", "weather"]],
};

const page = Object.fromEntries(
  ["form", "source", "text", "text-label", "detected", "go", "answered", "answers", "targets", "k", "least",
    "least-shown", "about", "share", "shared", "windows", "languages", "corpus", "teach", "phrases", "scenes", "swap", "clear", "seen", "held", "admin"].map((id) => [id, document.getElementById(id)]),
);
const tabs = [...document.querySelectorAll("[role=tab]")];
const TABLE = /\.(csv|tsv|xlsx)$/i; // names of tables
const MOST_SHOWN = 5000; // sentences of a language in an index that calls itself a demonstration
// wanted: a translation was requested before the languages had loaded. assumed: the language of the text was not chosen in the form.
// examples: of sentences in `exampleLanguage`.
const state = { kind: "sentence", languages: [], loading: true, wanted: false, request: null, asked: null, assumed: false,
  examples: [], exampleLanguage: "en" };

function languageName(code) {
  return state.languages.find((language) => language.code === code)?.name ?? code;
}

// ---- the form

function chosenTargets() {
  return [...page.targets.querySelectorAll("input:checked:not(:disabled)")].map((box) => box.value);
}

function choose(kind) {
  state.kind = kind;
  if (["corpus", "teach"].includes(kind)) page.admin.hidden = true; // for those who have a key
  for (const tab of tabs) {
    if (page.admin.hidden) tab.hidden = false;
    const chosen = tab.dataset.kind === kind;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
  }
  page.windows.hidden = !(kind in KINDS);
  for (const view of ["phrases", "scenes", "languages", "corpus", "teach"]) page[view].hidden = kind !== view;
  if (!(kind in KINDS)) return;
  page.windows.setAttribute("aria-labelledby", `tab-${kind}`);
  page["text-label"].textContent = HINTS[kind].label;
  page.text.placeholder = (kind === "sentence" && state.examples[0]?.[0]) || HINTS[kind].placeholder;
  showTargets();
}

function sourceChanged() {
  const source = page.source.value;
  if (source) page.text.lang = source;
  else page.text.removeAttribute("lang");
  page.detected.textContent = "";
  showTargets();
}

// A language that was taught and has no corpus has words to answer with, and no sentences. What means the same in the text's own
// language is found of sentences alone.
function showTargets() {
  const wordsAlone = new Set(state.languages.filter(({ sentences }) => !sentences).map(({ code }) => code));
  for (const box of page.targets.querySelectorAll("input")) {
    box.disabled = state.kind === "sentence" ? wordsAlone.has(box.value) : box.value === page.source.value;
  }
}

function leastChanged() {
  page["least-shown"].textContent = `${page.least.value}%`;
}

function fillLanguages(languages) {
  state.languages = languages;
  const remembered = recall();
  const reachable = new Set(languages.flatMap((language) => language.targets));
  const first = languages.find(({ code }) => reachable.has(code) && code !== "en")?.code;
  for (const { code, name, targets } of languages) {
    if (targets.length) page.source.append(element("option", { value: code }, name));
    if (!reachable.has(code)) continue;
    const box = element("input", { type: "checkbox", name: "target", value: code });
    box.checked = remembered ? remembered.includes(code) : code === first;
    page.targets.append(element("label", {}, box, element("span", {}, name)));
  }
  showTargets();
}

// The chosen targets are kept by the browser, where it lets us.
function recall() {
  try {
    return localStorage.getItem("targets")?.split(",").filter(Boolean);
  } catch {
    return undefined;
  }
}

function remember() {
  try {
    localStorage.setItem("targets", chosenTargets().join(","));
  } catch {
    // Storage is blocked: the next visit begins with the first languages.
  }
}

// Swaps the languages: the first target becomes the source, and its first answer the text.
async function swap() {
  if (!state.asked && page.text.value) await translate(); // which detects the language, and what stands there answers another text
  const [target] = chosenTargets();
  const source = page.source.value || state.asked?.source;
  if (!target || !source) return;
  const answer = page.answers.querySelector(`[data-code="${target}"] .answer-text`);
  if (answer) page.text.value = answer.textContent;
  assume(target);
  for (const box of page.targets.querySelectorAll("input")) box.checked = box.value !== target && (box.checked || box.value === source);
  remember();
  if (page.text.value) translate();
}

// Takes a language for that of the text, until another text is typed.
function assume(source) {
  page.source.value = source;
  state.assumed = Boolean(source);
  sourceChanged();
}

function clear() {
  state.request?.abort();
  page.answered.setAttribute("aria-busy", "false");
  page.text.value = "";
  page.detected.textContent = "";
  page.text.removeAttribute("aria-invalid");
  history.replaceState(null, "", location.pathname);
  showWelcome();
  page.text.focus();
}

function readForm() {
  const body = { [KINDS[state.kind]]: page.text.value, target: chosenTargets() };
  if (page.source.value) body.source = page.source.value;
  body.k = page.k.valueAsNumber;
  body.min_confidence = Number(page.least.value) / 100;
  body.include = ["near", "pictograms"];
  return body;
}

// ---- the address holds the whole request, so that it can be shared

function writeAddress() {
  const asked = new URLSearchParams({ kind: state.kind, text: page.text.value, target: chosenTargets().join(",") });
  if (page.source.value) asked.set("source", page.source.value);
  asked.set("k", page.k.value);
  asked.set("least", page.least.value);
  history.replaceState(null, "", `#${asked}`);
}

// Each tab is a step of the browser's history: Back and a refresh keep it.
function stepTo(kind) {
  if (state.kind in KINDS && page.text.value) writeAddress();
  choose(kind);
  const text = kind in KINDS ? page.text.value : "";
  history.pushState(null, "", `#${new URLSearchParams({ kind, ...(text && { text }) })}`);
}

function address() {
  return new URLSearchParams(location.hash.slice(1));
}

// The address at which the translator shows a sentence.
function sentenceAddress(text, source) {
  return `#${new URLSearchParams({ kind: "sentence", text, source, target: chosenTargets().filter((code) => code !== source).join(",") })}`;
}

function readAddress() {
  const asked = address();
  readQuestion(asked);
  readLanguages(asked);
  begin(asked);
}

function readQuestion(asked) {
  choose(tabs.some((tab) => tab.dataset.kind === asked.get("kind")) ? asked.get("kind") : "sentence");
  if (state.kind in KINDS) page.text.value = asked.get("text") ?? "";
  if (asked.get("k")) page.k.value = asked.get("k");
  if (asked.get("least")) page.least.value = asked.get("least");
  leastChanged();
}

function readLanguages(asked) {
  if (asked.get("source") && state.kind in KINDS) page.source.value = asked.get("source");
  if (page.source.selectedIndex < 0) page.source.value = "";
  if (asked.get("target")) {
    const targets = asked.get("target").split(",");
    for (const box of page.targets.querySelectorAll("input")) box.checked = targets.includes(box.value);
  }
  assume(page.source.value);
}

function begin(asked) {
  if (state.kind === "phrases") showPhrases();
  if (state.kind === "scenes") browse(asked.get("source") ?? "", asked.get("text") ?? "");
  if (state.kind === "teach") beginTeaching();
  if ((asked.get("text") || state.wanted) && state.kind in KINDS) translate();
  else showWelcome();
}

// ---- answers

function show(...children) {
  page.answered.classList.remove("outdated");
  page.answers.replaceChildren(...children);
}

function showWelcome() {
  page.seen.replaceChildren();
  const say = element("p", { class: "empty" }, element("em", {}, "Translations will appear here."));
  const english = state.languages.some((language) => language.code === "en");
  const examples = state.kind === "word" ? (english ? EXAMPLES.word : []) : state.examples;
  if (examples.length) say.append("Try one of these:", element("span", { class: "examples" }, ...examples.map(exampleButton)));
  show(say);
}

function exampleButton([text, kind]) {
  const tryIt = () => asking(text, state.kind === "word" ? "en" : state.exampleLanguage);
  return element("span", { class: "example" }, element("button", { type: "button", class: "plain", onclick: tryIt }, text),
    element("span", { class: "quiet" }, kind));
}

function asking(text, source) {
  page.text.value = text;
  assume(source);
  translate();
}

// Finds sentences to try: the shipped examples if the index has the first, else its own first sentences.
async function findExamples() {
  const stored = async (query) => (await ask(`concordance?${new URLSearchParams(query)}`)).results.map(({ text }) => text);
  const first = state.languages.find((language) => language.sentences && language.targets.length);
  if (!first) return;
  try {
    const english = state.languages.some(({ code, sentences }) => code === "en" && sentences);
    const few = Math.max(...state.languages.map(({ sentences }) => sentences)) <= MOST_SHOWN; // of many, a search takes long
    shipped.shown = english && few && (await stored({ source: "en", text: EXAMPLES.sentence[0][0], count: 1 })).length > 0;
    state.exampleLanguage = english ? "en" : first.code;
    state.examples = shipped.shown ? EXAMPLES.sentence
      : (await stored({ source: state.exampleLanguage, count: 3 })).map((text) => [text, "a sentence of the index"]);
  } catch {
    // The corpus needs a key: there is nothing to suggest.
  }
  if (state.kind === "sentence" && state.examples.length) [[page.text.placeholder]] = state.examples;
  if (page.answers.querySelector(".empty")) showWelcome();
}

function showProblem(problem) {
  const fields = (problem.errors ?? []).map((error) => error.field);
  if (fields.some((field) => field.startsWith(KINDS[state.kind]))) page.text.setAttribute("aria-invalid", "true");
  show(element("div", { class: "problem", role: "alert" },
    element("h2", {}, problem.title ?? "Something went wrong"),
    element("p", {}, problem.detail ?? "The service gave no reason."), ...candidateButtons(problem)));
}

// A button for each likely language of a text whose language is not clear.
function candidateButtons({ errors }) {
  const codes = errors?.flatMap(({ candidates }) => candidates ?? []) ?? [];
  if (!codes.length) return [];
  return [element("p", { class: "candidates" }, "Is it ", ...[...new Set(codes)].map((code) => element("button",
    { type: "button", class: "go", onclick: () => asking(page.text.value, code) }, languageName(code))))];
}

function showResult(result, body) {
  state.asked = { ...body, source: result.source };
  if (!page.source.value) page.detected.textContent = `Looks like ${languageName(result.source)}`;
  page.seen.replaceChildren(seen(result.pictograms, "in your text"));
  show(...resultView(result, { languageName, nothing: nothingLikely }));
  if (page.answers.getBoundingClientRect().top > innerHeight / 2) page.answered.scrollIntoView({ block: "start" });
}

// The text turned out to be in the only language to translate into: it is translated into another one.
function intoAnother({ errors: [{ allowed } = {}] = [] }, { source, target }) {
  if (source || target.length > 1 || !allowed?.length) return null;
  const box = page.targets.querySelector(`input[value="${allowed.includes("en") ? "en" : allowed[0]}"]`);
  if (!box || box.checked) return null;
  box.checked = true;
  return translate();
}

function nothingLikely() {
  const least = Number(page.least.value);
  const say = element("p", { class: "none" }, "No translation is likely enough. ");
  if (!least) return say;
  const lower = () => {
    page.least.value = 0;
    leastChanged();
    translate();
  };
  say.append(`Answers below ${least}% are hidden: `,
    element("button", { type: "button", class: "plain", onclick: lower }, "show all"));
  return say;
}

// ---- translating

async function translate() {
  if (state.loading) {
    state.wanted = true;
    return;
  }
  state.wanted = false;
  state.request?.abort();
  const request = new AbortController();
  state.request = request;
  page.text.removeAttribute("aria-invalid");
  page.detected.textContent = "";
  writeAddress();
  const body = readForm();
  if (!body.target.length) return showProblem({ title: "No language chosen", detail: "Choose at least one language to translate into." });
  page.answered.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => show(element("p", { class: "waiting" }, "Searching …")), 150);
  try {
    const answer = await ask(`translate/${state.kind}`, body, request.signal);
    showResult(answer.results[0], body);
  } catch (error) {
    if (error.name === "AbortError") return;
    await (intoAnother(error.problem ?? {}, body) ?? showProblem(error.problem ?? UNREACHABLE));
  } finally {
    clearTimeout(slow);
    if (state.request === request) page.answered.setAttribute("aria-busy", "false");
  }
}

async function describe() {
  const { model, index, licence } = await ask("health/ready");
  const sentences = state.languages.reduce((sum, language) => sum + language.sentences, 0);
  const count = sentences.toLocaleString("en");
  const most = Math.max(...state.languages.map((language) => language.sentences));
  page.held.textContent = most > MOST_SHOWN ? `It looks among ${most.toLocaleString("en")} sentences.`
    : `${shipped.shown ? "A demonstration: it" : "It"} knows ${most.toLocaleString("en")} ${shipped.shown ? "phrases and scenes, reviewed by no speaker" : "sentences"}, and says so when nothing fits.`;
  const targets = state.languages.filter((language) => language.sentences).length;
  const sourcesOnly = state.languages.length - targets;
  page.about.textContent = `Every answer is one of the ${count} sentences, or one of the words, in the index, which covers `
    + `${targets} languages. Nothing is made up: an encoder that learned from captioned pictures and unpaired text finds `
    + `the closest match. ${sourcesOnly ? `You can also translate from ${sourcesOnly} more languages. ` : ""}Model ${model}, index ${index}. Licence of the model: ${licence}.`;
}

// The index has a new version: describe that one.
async function changed() {
  state.languages = await ask("languages");
  page.languages.replaceChildren(...languagesView(state.languages));
  await describe();
}

// ---- events

page.form.addEventListener("submit", (event) => {
  event.preventDefault();
  translate();
});
page.text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  translate();
});
page.source.addEventListener("change", () => {
  sourceChanged();
  state.assumed = false;
  if (state.asked) translate();
});
page.text.addEventListener("input", () => {
  state.asked = null;
  page.answered.classList.add("outdated"); // what stands there answers another text
  if (state.assumed) assume("");
});
page.admin.addEventListener("click", () => {
  stepTo("corpus");
  page.corpus.querySelector("input")?.focus();
});
page.targets.addEventListener("change", () => {
  remember();
  page.targets.scrollLeft = 0;
  if (state.asked) translate();
});
page.swap.addEventListener("click", swap);
page.clear.addEventListener("click", clear);
page.least.addEventListener("input", leastChanged);
page.share.addEventListener("click", async () => {
  writeAddress();
  page.shared.textContent = (await copy(location.href)) ? "Copied" : "Not copied";
  setTimeout(() => { page.shared.textContent = ""; }, 1500);
});
for (const tab of tabs) {
  tab.addEventListener("click", () => {
    stepTo(tab.dataset.kind);
    page.detected.textContent = "";
    if (state.kind === "phrases" && !state.loading) showPhrases();
    if (state.kind === "scenes" && !browsed() && !state.loading) browse(page.source.value, "");
    if (state.kind === "teach" && !state.loading) beginTeaching();
    showWelcome();
  });
  tab.addEventListener("keydown", (event) => {
    const shown = tabs.filter(({ hidden }) => !hidden), place = shown.indexOf(tab);
    const steps = { ArrowRight: 1, ArrowLeft: shown.length - 1, Home: -place, End: shown.length - 1 - place };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const other = shown[(place + steps[event.key]) % shown.length];
    other.click();
    other.focus();
  });
}
window.addEventListener("hashchange", readAddress);
// A table is shown as phrases, wherever it is dropped; on their tab any file is one.
window.addEventListener("dragover", (event) => {
  if (event.dataTransfer.types.includes("Files")) event.preventDefault();
});
window.addEventListener("drop", (event) => {
  const [file] = event.dataTransfer.files;
  if (event.defaultPrevented || !file || !(state.kind === "phrases" || TABLE.test(file.name))) return;
  event.preventDefault();
  if (state.loading) return;
  if (state.kind !== "phrases") stepTo("phrases");
  readTable(file);
});

readQuestion(address()); // first, so that what is typed or chosen while the languages load is kept
try {
  fillLanguages(await ask("languages"));
  readLanguages(address()); // before anybody chooses one
  await findExamples(); // and whether anybody has reviewed what is answered
  state.loading = false;
  page.languages.replaceChildren(...languagesView(state.languages));
  page.phrases.replaceChildren(...phrasesView(state.languages, languageName));
  page.scenes.replaceChildren(...scenesView(state.languages, { targets: chosenTargets, address: sentenceAddress }));
  document.querySelector(".settings").append(fileView({ source: () => page.source.value, targets: chosenTargets, languages: state.languages, languageName }));
  page.corpus.replaceChildren(...corpusView(state.languages, changed));
  page.teach.replaceChildren(...teachView(state.languages, changed));
  begin(address());
  await describe();
} catch (error) {
  state.loading = false;
  showProblem(error.problem ?? UNREACHABLE);
}
