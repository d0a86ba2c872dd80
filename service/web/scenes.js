// A wall of what the index holds: each sentence a framed card with what the encoder sees and its translations.

import { ask, element } from "./dom.js";
import { seen } from "./answers.js";

const CARDS = 12; // of a page
const SHOWN = 2; // languages of a card, besides its own

const state = { begin: 0, request: null };
const part = {};

// targets: the languages that a card is shown in; opened: the address of a sentence in the translator.
export function scenesView(languages, { targets, address }) {
  Object.assign(state, { languages: languages.filter(({ sentences }) => sentences), targets, address });
  part.language = element("select", { id: "scenes-language", form: "browsing" },
    ...state.languages.map(({ code, name }) => element("option", { value: code }, name)));
  part.text = element("input", { id: "scenes-text", type: "search", maxlength: "200", form: "browsing", placeholder: "a word or phrase" });
  part.wall = element("ul", { class: "wall" });
  part.said = element("p", { class: "quiet", role: "status" });
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
    part.said, part.wall, part.more)];
}

function field(name, control) {
  return element("div", { class: "field" }, element("label", { for: control.id }, name), control);
}

// The page from its beginning.
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
  const query = new URLSearchParams({ source, begin: state.begin, count: CARDS, ...(text && { text }) });
  const into = state.targets().filter((code) => code !== source).slice(0, SHOWN);
  part.said.textContent = "Looking …";
  try {
    const found = await ask(`concordance?${query}`, undefined, signal);
    const cards = await translated(found.results, source, into, signal);
    part.wall.append(...cards);
    state.begin = found.next;
    part.more.hidden = found.next === null;
    part.said.textContent = part.wall.firstChild ? "" : `No sentence has “${text}”.`;
  } catch (error) {
    if (error.name === "AbortError") return;
    part.said.textContent = error.problem?.detail ?? "The service cannot be reached. Is it still running?";
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
    const text = sentence.translations[code]?.[0]?.text ?? result.translations[code]?.[0]?.text;
    return text ? [element("p", { class: "card-translation", lang: code, dir: "auto" }, text)] : [];
  });
  const glyphs = seen(result.pictograms, "in this sentence");
  return element("li", { class: "card" }, element("p", { class: "card-picture" }, glyphs),
    element("p", { class: "card-text", lang: source, dir: "auto" },
      element("a", { href: state.address(sentence.text, source) }, sentence.text)), ...lines);
}
