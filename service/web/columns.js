// The first lines of a table, where the user says what each column has before the file is uploaded.

import { element } from "./dom.js";

const BYTES_READ = 1 << 16;
const LINES_SHOWN = 3;
const DELIMITERS = [",", ";", "\t"]; // the most frequent in the header, and of equally frequent ones the first, as in the service
const KINDS = { "": "Other information", text: "Sentences", language: "Language of the sentence", id: "ID", group: "Group of translations" };
const AS_NAMED = ["metadata", "translation"]; // columns that the service reads by their names

// languages: {code, name} of each. Returns the `view`; `show(file)`, which shows the columns of a plain CSV or TSV file;
// `mapping()`, the parameter `columns` of the upload; and `check(language)`, which marks missing and repeated choices.
export function columnsView(languages) {
  const view = element("div", { class: "mapped", hidden: "" });
  let columns = [];

  async function show(file) {
    const format = file?.name.toLowerCase().split(".").at(-1);
    const [names = [], ...lines] = ["csv", "tsv"].includes(format) ? await tableRows(file, format, LINES_SHOWN + 1, BYTES_READ) : [];
    columns = names.map((name) => ({ name, implied: implied(name, languages) }));
    for (const column of columns) column.select = choice(column, languages);
    view.hidden = !columns.length;
    view.replaceChildren(...preview(columns, lines));
  }

  function mapping() {
    return columns.filter(({ implied: meaning, select }) => select.value !== meaning)
      .map(({ name, select }) => `${select.value || `column ${name}`}=${name}`).join(",");
  }

  function check(language) {
    const meanings = columns.map(({ select }) => select.value);
    const codes = meanings.filter((meaning) => meaning && !(meaning in KINDS));
    columns.forEach(({ select }, place) => {
      const twice = select.value && meanings.indexOf(select.value) !== place;
      select.setCustomValidity(twice ? `Another column is this, too: choose one for “${select.selectedOptions[0].text}”.` : "");
    });
    language.setCustomValidity("");
    if (!columns.length || columns.some(({ name }) => name === "translation")) return;
    if (!meanings.includes("text") && !codes.length) columns[0].select.setCustomValidity("Say which column has the sentences, or which language each is in.");
    if (meanings.includes("text") && !meanings.includes("language") && !language.value) language.setCustomValidity("Choose the language of the sentences.");
  }

  return { view, show, mapping, check };
}

function preview(columns, lines) {
  const head = element("tr", {}, ...columns.map(({ name, select }) => element("th", { scope: "col" }, name, select)));
  const rows = lines.map((cells) => element("tr", {}, ...columns.map((_, place) => element("td", { dir: "auto" }, cells[place] ?? ""))));
  return [element("p", {}, "What is in each column? These are the first lines."),
    element("div", { class: "scrolled", role: "region", "aria-label": "First lines of the file", tabindex: "0" },
      element("table", { class: "counts" }, element("thead", {}, head), element("tbody", {}, ...rows)))];
}

function choice({ name, implied: meaning }, languages) {
  const select = element("select", { form: "uploading", "aria-label": `What is in ${name}` },
    ...Object.entries(KINDS).map(([value, text]) => element("option", { value }, text)),
    element("optgroup", { label: "Sentences in" }, ...languages.map(({ code, name: text }) => element("option", { value: code }, text))));
  select.value = meaning || (languages.find((language) => namesOf(language).includes(name.toLowerCase()))?.code ?? "");
  // The service splits the parameter at commas.
  select.disabled = name.includes(",") || AS_NAMED.includes(name);
  return select;
}

// A language in English and in itself.
function namesOf({ code, name }) {
  return [name, new Intl.DisplayNames([code], { type: "language" }).of(code)].map((text) => text.toLowerCase());
}

// What the service assumes that a column of this name has.
function implied(name, languages) {
  if (name === "lang") return "language";
  if (name in KINDS) return name;
  const tag = name.replaceAll("_", "-");
  return (languages.find(({ code }) => code === tag) ?? languages.find(({ code }) => code === tag.split("-")[0] && /^[a-z]{2,3}-/.test(tag)))?.code ?? "";
}

// Names of the columns, then cells of the next lines, `most` in all, of the first `length` bytes of a CSV or TSV file.
// Excel writes UTF-16, and a first line such as `sep=;`.
async function tableRows(file, format, most, length) {
  const bytes = new Uint8Array(await file.slice(0, length).arrayBuffer());
  const encoding = bytes[0] === 0xFF && bytes[1] === 0xFE ? "utf-16le" : "utf-8";
  const text = new TextDecoder(encoding).decode(bytes).replaceAll("\r\n", "\n");
  const stated = /^sep=(.)\n/.exec(text);
  const rest = stated ? text.slice(stated[0].length) : text;
  const many = (delimiter) => rest.split("\n", 1)[0].split(delimiter).length;
  const delimiter = format === "tsv" ? "\t" : stated?.[1] ?? DELIMITERS.reduce((best, next) => (many(next) > many(best) ? next : best));
  const quoted = format === "csv" ? '"((?:[^"]|"")*)"|' : "";
  const cell = new RegExp(`(?:${quoted}([^${delimiter}\\n]*))(${delimiter}|\\n|$)`, "gy");
  const rows = [[]];
  for (const [whole, ...found] of rest.matchAll(cell)) {
    const end = found.at(-1);
    if (!whole && !rows.at(-1).length) break;
    rows.at(-1).push((format === "csv" && found[0] !== undefined ? found[0].replaceAll('""', '"') : found.at(-2) ?? "").trim());
    if (end === "\n") rows.push([]);
    if (rows.length > most || !end) break;
  }
  return rows.filter((cells) => cells.join("")).slice(0, most);
}
