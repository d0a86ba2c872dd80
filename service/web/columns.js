// The first lines of a table, where the user says what each column has before the file is uploaded.

import { element } from "./dom.js";

const BYTES_READ = 1 << 16;
const LINES_SHOWN = 3;
const READABLE = { none: null, gz: "gzip" }; // compressions, as DecompressionStream names them
const UNREADABLE = "This compression can't be read in the page: columns will be taken as they are named. Compress with gz to choose.";
const DELIMITERS = [",", ";", "\t"]; // the most frequent in the header, and of equally frequent ones the first, as in the service
const KINDS = { "": "Other information", text: "Sentences", language: "Language of the sentence", id: "ID", group: "Group of translations" };
const AS_NAMED = ["metadata", "translation"]; // columns that the service reads by their names

// languages: {code, name} of each. Returns the `view`; `show(file, format, compression)`, which shows the columns of a table;
// `mapping()`, the parameter `columns` of the upload; and `check(language)`, which marks missing and repeated choices.
export function columnsView(languages) {
  const view = element("div", { class: "mapped", hidden: "" });
  let columns = [];
  let shown = 0;

  async function show(file, format, compression) {
    const request = shown += 1;
    const [isTable, isReadable] = [file && ["csv", "tsv", "jsonl"].includes(format), compression in READABLE];
    const table = isTable && isReadable ? await firstLines(file, format, READABLE[compression]).catch(() => []) : [];
    if (request !== shown) return; // another file was chosen meanwhile
    const [names = [], ...lines] = table;
    columns = names.map((name) => ({ name, implied: implied(name, languages), select: null }));
    for (const column of columns) column.select = choice(column, languages);
    view.hidden = !columns.length && !(isTable && !isReadable);
    view.replaceChildren(...(columns.length ? preview(columns, lines) : [element("p", {}, UNREADABLE)]));
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
    if (!columns.length || columns.some(({ name }) => AS_NAMED[1] === name)) return;
    if (!meanings.includes("text") && !codes.length) columns[0].select.setCustomValidity("Say which column has the sentences, or which language each is in.");
    if (meanings.includes("text") && codes.length) columns[meanings.indexOf("text")].select.setCustomValidity("Choose either sentences here, or a language for each column.");
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
  select.value = meaning || guessed(name, languages);
  // The service splits the parameter at commas.
  select.disabled = name.includes(",") || AS_NAMED.includes(name);
  return select;
}

// What the service assumes that a column of this name has.
function implied(name, languages) {
  if (name === "lang") return "language";
  if (name in KINDS) return name;
  const tag = name.replaceAll("_", "-");
  return (languages.find(({ code }) => code === tag) ?? languages.find(({ code }) => code === tag.split("-")[0] && /^[a-z]{2,3}-/.test(tag)))?.code ?? "";
}

// The language that a column is named after, in English or in the language itself.
function guessed(name, languages) {
  const lower = name.toLowerCase();
  return languages.find(({ code, name: english }) => lower === english.toLowerCase() || lower === nameInItself(code))?.code ?? "";
}

function nameInItself(code) {
  return new Intl.DisplayNames([code], { type: "language" }).of(code).toLowerCase();
}

// ---- reading

// Names of the columns, then cells of the first lines.
async function firstLines(file, format, compression) {
  const bytes = await firstBytes(compression ? file.stream().pipeThrough(new DecompressionStream(compression)) : file.stream());
  const [first, second] = bytes;
  const encoding = first === 0xFF && second === 0xFE ? "utf-16le" : first === 0xFE && second === 0xFF ? "utf-16be" : "utf-8";
  const text = new TextDecoder(encoding).decode(bytes);
  if (format === "jsonl") return ofObjects(text);
  const table = format === "tsv" ? text.split("\n", LINES_SHOWN + 1).map((line) => line.replace(/\r$/, "").split("\t")) : ofCsv(text);
  const [names, ...lines] = table;
  return [names.map((name) => name.trim()), ...lines.filter((cells) => cells.join("").trim())];
}

// At least BYTES_READ of a stream, or all of it.
async function firstBytes(stream) {
  const reader = stream.getReader();
  const parts = [];
  for (let count = 0; count < BYTES_READ;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    count += value.length;
  }
  reader.cancel().catch(() => {});
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function ofObjects(text) {
  const rows = text.split("\n").filter((line) => line.trim()).slice(0, LINES_SHOWN).map((line) => JSON.parse(line));
  const names = [...new Set(rows.flatMap(Object.keys))];
  return [names, ...rows.map((row) => names.map((name) => (typeof row[name] === "object" ? JSON.stringify(row[name]) : String(row[name] ?? ""))))];
}

// RFC 4180, and Excel's first line such as `sep=;`.
function ofCsv(text) {
  const stated = /^sep=(.)\r?\n/.exec(text);
  const rest = stated ? text.slice(stated[0].length) : text;
  const many = (delimiter) => rest.split("\n", 1)[0].split(delimiter).length;
  const delimiter = stated?.[1] ?? DELIMITERS.reduce((best, next) => (many(next) > many(best) ? next : best));
  const rows = [[]];
  let cell = "", quoted = false;
  const end = () => {
    rows.at(-1).push(cell);
    cell = "";
  };
  for (let place = 0; place < rest.length && rows.length <= LINES_SHOWN + 1; place += 1) {
    const character = rest[place];
    if (quoted && character === '"' && rest[place + 1] === '"') {
      cell += '"';
      place += 1;
    } else if (character === '"' && (quoted || !cell)) quoted = !quoted;
    else if (quoted || ![delimiter, "\r", "\n"].includes(character)) cell += character;
    else if (character === delimiter) end();
    else if (character === "\n") {
      end();
      rows.push([]);
    }
  }
  if (cell || rows.at(-1).length) end();
  return rows.slice(0, LINES_SHOWN + 1);
}
