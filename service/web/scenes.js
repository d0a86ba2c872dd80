// Browses the index: each sentence is a framed card with its pictograms and translations.

import { ask, element, field } from "./dom.js";
import { seen } from "./answers.js";

const CARDS_PER_PAGE = 12;
const TRANSLATIONS_SHOWN = 2; // on each card

const state = { begin: 0, request: null };
const part = {};

// targets: returns the languages to translate into; address: returns the address of a sentence in the translator.
export function scenesView(languages, { targets, address }) {
  Object.assign(state, { languages: languages.filter(({ sentences }) => sentences), targets, address });
  part.language = element("select", { id: "scenes-language", form: "browsing" },
    ...state.languages.map(({ code, name }) => element("option", { value: code }, name)));
  part.text = element("input", { id: "scenes-text", type: "search", maxlength: "200", form: "browsing", placeholder: "a word or phrase" });
  part.wall = element("ul", { class: "wall" });
  part.status = element("p", { class: "quiet", role: "status" });
  part.more = element("button", { type: "button", class: "go", hidden: "", onclick: () => page() }, "More scenes");
  document.getElementById("browsing").onsubmit = (event) => {
    event.preventDefault();
    browse(part.language.value, part.text.value);
  };
  part.language.addEventListener("change", () => browse(part.language.value, part.text.value));
  return [element("section", { class: "view" }, element("h2", {}, "What the index holds"),
    element("p", {}, "Every answer is one of these sentences. The pictures are what the encoder sees in each."),
    element("div", { class: "fields" }, field("Language", part.language), field("Look for", part.text),
      element("button", { type: "submit", class: "go", form: "browsing" }, "Search")),
    part.status, part.wall, part.more)];
}

// Shows the first page for a language and a phrase.
export function browse(language, text) {
  part.language.value = language;
  if (part.language.selectedIndex < 0) part.language.selectedIndex = 0;
  part.text.value = text;
  state.begin = 0;
  part.wall.replaceChildren();
  history.replaceState(null, "", `#${new URLSearchParams({ kind: "scenes", source: part.language.value, text })}`);
  return page();
}

export function browsed() {
  return Boolean(part.wall?.firstChild);
}

async function page() {
  state.request?.abort();
  state.request = new AbortController();
  const { signal } = state.request;
  const source = part.language.value, text = part.text.value.trim();
  const query = new URLSearchParams({ source, begin: state.begin, count: CARDS_PER_PAGE, ...(text && { text }) });
  const into = state.targets().filter((code) => code !== source).slice(0, TRANSLATIONS_SHOWN);
  part.status.textContent = "Looking …";
  try {
    const listed = await ask(`concordance?${query}`, undefined, signal);
    const cards = await translated(listed.results, source, into, signal);
    part.wall.append(...cards);
    state.begin = listed.next;
    part.more.hidden = listed.next === null;
    part.status.textContent = part.wall.firstChild ? "" : `No sentence has “${text}”.`;
  } catch (error) {
    if (error.name === "AbortError") return;
    part.status.textContent = error.problem?.detail ?? "The service cannot be reached. Is it still running?";
  }
}

async function translated(sentences, source, into, signal) {
  if (!sentences.length) return [];
  const texts = sentences.map(({ text }) => text);
  const body = { text: texts, source, target: into.length ? into : [other(source)], k: 1, include: ["pictograms"] };
  const { results } = await ask("translate/sentence", body, signal);
  return sentences.map((sentence, row) => card(sentence, source, results[row], into));
}

function other(source) {
  return state.languages.find(({ code }) => code !== source).code;
}

function card(sentence, source, result, into) {
  const lines = into.flatMap((code) => {
    const own = sentence.translations[code]?.[0]?.text, text = own ?? result.translations[code]?.[0]?.text;
    const line = element("p", { class: "card-translation", lang: code, dir: "auto" }, text ?? "");
    return own ? [line] : text ? [line, element("p", { class: "quiet" }, "Likely: the corpus has no translation.")] : [];
  });
  const glyphs = seen(result.pictograms, "in this sentence");
  return element("li", { class: "card" }, element("p", { class: "card-picture" }, glyphs),
    element("p", { class: "card-text", lang: source, dir: "auto" },
      element("a", { href: state.address(sentence.text, source) }, sentence.text)), ...lines);
}
