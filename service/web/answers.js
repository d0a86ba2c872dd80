// The answers to one text: what kind each is, in which words it differs, what the encoder sees in it.

import { bar, copy, element, percent } from "./dom.js";

// The label of a translation, by its least probability.
const LIKELIHOODS = [[0.85, "very likely"], [0.65, "likely"], [0.4, "possible"], [0.2, "unlikely"], [0, "a guess"]];

export const NOT_REVIEWED = "No speaker has reviewed this phrase: not for clinical use before one has read it.";
export const shipped = { shown: false }; // whether the index has the shipped sentences, none of which anybody has reviewed

// What stands above answers that are near: below others, where they are shown on request, and alone.
const NEAR = {
  sentence: ["Nearest, with other details", "Nothing here surely says this. What is nearest, with other details:"],
  word: ["Less likely words", "No likely translation here. Less likely words:"],
};

// nothing: returns what to show if a language has no answer.
export function resultView(result, { languageName, nothing }) {
  const above = result.word ? NEAR.word : NEAR.sentence;
  const blocks = (translations) => Object.entries(translations).map(([code, answers]) => (code === result.source
    ? languageBlock(code, answers.filter(({ match }) => match !== "exact"), { title: `What else means this in ${languageName(code)}`, nothing, above })
    : languageBlock(code, answers, { title: languageName(code), nothing, above })));
  if (!result.sentences?.length) return blocks(result.translations);
  return result.sentences.map((part) => element("section", { class: "part" },
    element("p", { class: "part-text", lang: result.source, dir: "auto" }, part.text), ...blocks(part.translations)));
}

function languageBlock(code, answers, tools) {
  const block = element("section", { class: "language", "data-code": code }, element("h2", {}, tools.title));
  const near = answers.filter(({ match }) => match === "near");
  const rest = answers.filter(({ match }) => match !== "near");
  if (rest.length) block.append(list(code, rest));
  if (near.length && rest.length) {
    block.append(element("details", {}, element("summary", { class: "below" }, tools.above[0]), list(code, near)));
  } else if (near.length) {
    block.append(element("p", { class: "below" }, tools.above[1]), list(code, near));
  }
  if (!answers.length) block.append(tools.nothing());
  return block;
}

function list(code, answers) {
  return element("ol", {}, ...answers.map((answer) => answerItem(code, answer)));
}

function answerItem(code, answer) {
  const level = LIKELIHOODS.length - 1 - LIKELIHOODS.findIndex(([from]) => answer.confidence >= from);
  const item = element("li", { class: "answer", "data-level": level, "data-match": answer.match },
    element("p", { class: "answer-text", lang: code, dir: "auto" }, ...marked(answer.text, answer.differs?.answer)),
    element("p", { class: "likelihood" }, ...kind(answer), answer.metadata.pictogram || seen(answer.pictograms, "in this answer"),
      element("span", { class: "actions" }, copyButton(answer.text))));
  const near = answer.match === "near";
  if (answer.gloss && (near || !answer.original)) {
    item.append(element("p", { class: "gloss" }, "Says: ", ...marked(answer.gloss, answer.differs?.gloss)));
  }
  const said = new Set(answer.gloss?.toLowerCase().match(/[\p{L}\p{M}\p{N}']+/gu)); // and "I have" may only be in another place
  const missing = (answer.differs?.question ?? []).filter((word) => !word.toLowerCase().split(" ").every((one) => said.has(one)));
  if (missing.length) item.append(element("p", { class: "missing" }, "Not in it: ", ...joined(missing)));
  if (answer.penalties?.length) item.append(element("p", { class: "missing" }, `Differs in ${answer.penalties.join(", ")}.`));
  if (answer.examples?.length) {
    item.append(element("ul", { class: "uses" }, ...answer.examples.map((example) =>
      element("li", { lang: code, dir: "auto" }, example.text ?? example))));
  }
  if ((answer.metadata.reviewed || (shipped.shown && answer.gloss && "no")) === "no") item.append(element("p", { class: "quiet" }, NOT_REVIEWED));
  item.append(element("div", { class: "origin" }, ...origin(answer)));
  return item;
}

// Where the answer comes from: the corpus's own translation, or the file that contains it.
function origin({ id, match, original, metadata: { file } }) {
  const place = element("details", { class: "place" }, element("summary", {}, "Where it stands"),
    element("span", {}, file ? `${file} · ${id}` : id));
  if (!original || match === "near") return [place]; // its gloss says that
  const alike = match === "exact" ? ", this very text" : "";
  return [element("span", { class: "memory" }, `Your corpus gives this translation for “${original.text}”${alike}.`), place];
}

function joined(words) {
  return words.flatMap((word, place) => [place ? ", " : "", element("b", { dir: "auto" }, word)]);
}

// What kind of answer it is, with at most one percentage.
function kind({ match, original, confidence }) {
  const label = (text) => element("span", { class: "said" }, text);
  const share = (value, title) => element("span", { class: "percent", title }, percent(value));
  if (match === "exact") return [label("from your corpus")];
  if (match === "near") return []; // what is above the list says it
  if (original) return [label("from your corpus"), bar(confidence), share(confidence, "Estimated probability that it means the same")];
  const [, likelihood] = LIKELIHOODS.find(([from]) => confidence >= from);
  return [label(likelihood), bar(confidence), share(confidence, "Estimated probability that this is a translation")];
}

// The text as nodes, with those words marked.
function marked(text, words = []) {
  const nodes = [];
  let end = 0;
  for (const [place, word] of words.map((one) => [text.indexOf(one), one]).sort(([one], [other]) => one - other)) {
    if (place < end) continue;
    nodes.push(text.slice(end, place), element("mark", { title: "Not in your text" }, word));
    end = place + word.length;
  }
  return [...nodes, text.slice(end)];
}

// The pictograms as emoji, which are characters, so no image is loaded; empty if there are none.
export function seen(pictograms, where) {
  if (!pictograms?.length) return "";
  const glyphs = pictograms.map(({ emoji }) => emoji).join(" ");
  return element("span", { class: "seen", role: "img", "aria-label": `The encoder sees ${where}: ${glyphs}`, title: "What the encoder sees" }, glyphs);
}

function copyButton(text) {
  const button = element("button", { type: "button", class: "plain", "aria-label": `Copy: ${text}` }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(text)) ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return button;
}
