// Phrases by topic, to be shown to the person opposite: those of the index whose file names a topic, or a table of one's own.

import { NOT_REVIEWED } from "./answers.js";
import { UNREACHABLE, ask, element, field } from "./dom.js";

const LONGEST_NAME = 200; // characters of a file's name
const OTHER = "other"; // the topic of a phrase whose table names none

const state = { phrases: [], topic: null, request: null };
const part = {};

export function phrasesView(languages, languageName) {
  Object.assign(state, { languageName, own: languages.filter(({ sentences }) => sentences).map(({ code }) => code) });
  const choice = (id, chosen) => element("select", { id, form: "choosing" }, ...languages.filter(({ sentences }) => sentences)
    .map(({ code, name }) => element("option", { value: code, ...(code === chosen && { selected: "" }) }, name)));
  part.source = choice("phrases-source", "en");
  part.target = choice("phrases-target", languages.find(({ code, sentences }) => sentences && code !== "en")?.code);
  part.topics = element("div", { class: "topics", role: "group", "aria-label": "Topics" });
  part.list = element("ul", { class: "phrases" });
  part.note = element("p", { class: "printed quiet" }, "No speaker has reviewed these phrases: not for clinical use before one has read them.");
  part.status = element("p", { class: "quiet", role: "status" });
  part.file = element("input", { id: "phrases-file", type: "file", accept: ".csv,.tsv,.xlsx", form: "choosing" });
  part.card = element("dialog", { class: "phrase-card", "aria-label": "Phrase" });
  for (const select of [part.source, part.target]) select.addEventListener("change", () => (state.table ? showTable() : showPhrases()));
  part.file.addEventListener("change", () => part.file.files[0] && readTable(part.file.files[0]));
  part.card.addEventListener("click", () => part.card.close());
  const view = element("section", { class: "view" }, element("h2", {}, "Phrases to show"),
    element("p", {}, "Tap a phrase: it is shown large, in the other person's language. Every phrase is a whole sentence of the corpus with its own translation."),
    element("div", { class: "fields" }, field("I read", part.source), field("The other person reads", part.target),
      field("My own table (CSV, TSV, XLSX), of which the service keeps nothing", part.file)),
    part.status, part.topics, part.list, part.note, part.card);
  return [view];
}

// Shows the phrases of the index in the chosen languages.
export async function showPhrases() {
  show([], "Looking …"); // nothing is left that is in another language than the chosen ones
  state.request = new AbortController();
  try {
    const query = new URLSearchParams({ source: part.source.value, target: part.target.value });
    const { phrases } = await ask(`phrases?${query}`, undefined, state.request.signal);
    show(phrases, "This index has no phrases with a topic in these two languages.");
  } catch (error) {
    if (error.name !== "AbortError") show([], error.problem?.detail ?? UNREACHABLE.detail);
  }
}

// Shows a table of one's own: a column for each language, named by its code, and perhaps `topic` and `pictogram`.
export async function readTable(file) {
  say(`Reading ${file.name} …`);
  const query = new URLSearchParams({ name: file.name.slice(-LONGEST_NAME) });
  const board = await ask(`board?${query}`, file).catch((error) => say(error.problem?.detail ?? UNREACHABLE.detail));
  if (!board) return;
  const codes = board.languages;
  Object.assign(state, { table: board.phrases, name: file.name });
  for (const [place, select] of [part.source, part.target].entries()) {
    for (const code of codes) {
      if (![...select.options].some(({ value }) => value === code)) select.append(element("option", { value: code }, state.languageName(code)));
    }
    if (!codes.includes(select.value)) select.value = codes[place];
    for (const option of select.options) option.disabled = !codes.includes(option.value);
  }
  if (part.source.value === part.target.value) part.target.value = codes.find((code) => code !== part.source.value);
  showTable();
}

// Shows the phrases of the index again.
function leaveTable() {
  state.table = null;
  part.file.value = "";
  for (const select of [part.source, part.target]) {
    for (const option of [...select.options]) {
      option.disabled = false;
      if (!state.own.includes(option.value)) option.remove();
    }
  }
  showPhrases();
}

function showTable() {
  const source = part.source.value, target = part.target.value;
  const phrases = state.table.filter(({ texts }) => texts[source] && texts[target]).map(({ texts, ...row }) => ({
    ...row, text: texts[source], translation: texts[target], topic: row.topic || OTHER }));
  show(phrases, "The table has no phrase in both of these languages.");
}

function say(message) {
  const back = element("button", { type: "button", class: "plain", onclick: leaveTable }, "back to the corpus.");
  part.status.replaceChildren(...(state.table ? [`From ${state.name}: `, back, " "] : []), message);
}

// Shows phrases, and none that are still asked for.
function show(phrases, nothing) {
  state.request?.abort();
  state.phrases = phrases;
  const topics = [...new Set(phrases.map(({ topic }) => topic))];
  if (topics.length && !topics.includes(state.topic)) [state.topic] = topics;
  say(phrases.length ? "" : nothing);
  part.topics.replaceChildren(...topics.map((topic) => element("button",
    { type: "button", class: "topic", "aria-pressed": String(topic === state.topic), onclick: () => choose(topic) }, topic)));
  showTopic();
}

function choose(topic) {
  state.topic = topic;
  for (const button of part.topics.children) button.setAttribute("aria-pressed", String(button.textContent === topic));
  showTopic();
}

function showTopic() {
  const source = part.source.value, target = part.target.value;
  const phrases = state.phrases.filter(({ topic }) => topic === state.topic);
  part.list.replaceChildren(...phrases.map((phrase) => element("li", {},
    element("button", { type: "button", class: "phrase", lang: source, dir: "auto", onclick: () => open(phrase) },
      element("span", { "aria-hidden": "true" }, phrase.pictogram ?? ""), element("span", {}, phrase.text)),
    element("p", { class: "printed", lang: target, dir: "auto" }, phrase.translation))));
  part.note.hidden = !phrases.some(({ reviewed }) => reviewed === "no");
}

function open({ text, translation, pictogram, reviewed }) {
  part.card.replaceChildren(
    element("p", { class: "phrase-picture", "aria-hidden": "true" }, pictogram ?? ""),
    element("p", { class: "quiet" }, state.languageName(part.target.value)),
    element("p", { class: "phrase-large", lang: part.target.value, dir: "auto" }, translation),
    element("p", { class: "phrase-own", lang: part.source.value, dir: "auto" }, text),
    ...(reviewed === "no" ? [element("p", { class: "quiet" }, NOT_REVIEWED)] : []),
    element("button", { type: "button", class: "go", autofocus: "" }, "Close"));
  part.card.showModal();
}
