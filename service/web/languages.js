// The languages of the index: how much it has of each, how well each pair translates.

import { element, percent } from "./dom.js";

export function languagesView(languages) {
  const parts = [counts(languages)];
  if (languages.some(({ quality }) => quality && Object.keys(quality).length)) parts.push(quality(languages));
  return parts;
}

// ---- contents

function counts(languages) {
  const sourcesOnly = languages.filter(({ sentences }) => !sentences).map(({ name }) => name);
  const note = sourcesOnly.length ? `You can also translate from these ${sourcesOnly.length} languages, but not into them, as the index has no `
    + `sentences in them: ${sourcesOnly.join(", ")}.` : "";
  const rows = languages.filter(({ sentences }) => sentences).map(({ code, name, sentences, words }) =>
    element("tr", {}, element("th", { scope: "row" }, name), cell(code),
      cell(sentences.toLocaleString("en"), "number"), cell(words.toLocaleString("en"), "number")));
  const names = ["Language", "Code", "Sentences", "Words"];
  return section("What is in the index", note, scrolled("Languages of the index", element("table", { class: "counts" },
    element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...rows))));
}

function cell(text, kind = "") {
  return element("td", kind ? { class: kind } : {}, text);
}

// ---- quality

function quality(languages) {
  const note = "How many sentences in 100 found their own translation first, measured on sentences whose translation is in the index; from "
    + "the language of the row into that of the column. The paler, the less reliable.";
  const into = languages.filter(({ sentences }) => sentences);
  const head = element("tr", {}, element("td"), ...into.map(({ code, name }) => element("th", { scope: "col", title: name }, code)));
  const rows = into.map((from) => element("tr", {}, element("th", { scope: "row" }, from.name),
    ...into.map((to) => shade(from.quality?.[to.code]))));
  return section("How well each pair translates", note, scrolled("Quality of each pair of languages",
    element("table", { class: "matrix" }, element("thead", {}, head), element("tbody", {}, ...rows))));
}

function shade(quality) {
  if (!quality) return element("td", { class: "unknown" }, "·");
  const shaded = element("td", { title: `of ${quality.n} sentences; ${percent(quality.r10)} among the first ten` },
    String(Math.round(quality.r1 * 100)));
  shaded.style.setProperty("--share", percent(quality.r1));
  return shaded;
}

// ---- building blocks

function section(title, note, ...content) {
  return element("section", { class: "view" }, element("h2", {}, title), ...(note ? [element("p", {}, note)] : []), ...content);
}

function scrolled(label, table) {
  return element("div", { class: "scrolled", role: "region", "aria-label": label, tabindex: "0" }, table);
}
