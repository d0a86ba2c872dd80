// Translates a file, chosen or dropped, from the translation memory.

import { UNREACHABLE, ask, element } from "./dom.js";

// As the service fills them (index/formats/registry.py).
const FILE_EXTENSIONS = ".txt,.tmx,.xlf,.xliff,.sdlxliff,.mqxliff,.mxliff,.po,.pot,.json,.arb,.xcstrings,.yaml,.yml,.stringsdict,.resx,.strings,"
  + ".properties,.srt,.vtt,.html,.htm,.docx,.xlsx,.xml";

const OWN_LANGUAGE = "is the language of file already"; // as the service says it (index/answers/languages.py)

export function fileView({ source, targets, languages, languageName }) {
  const file = element("input", { type: "file", accept: FILE_EXTENSIONS });
  const status = element("p", { class: "quiet", role: "status" });
  const field = element("label", { class: "drop" }, "A whole file (PO, XLIFF, TMX, texts of a program, subtitles, DOCX, …): choose it, or drop it here ", file);
  // Into the first language wanted that is not the file's own, which only the service may know; else into another one.
  const send = async (chosen) => {
    const others = ["en", ...languages.filter(({ sentences }) => sentences).map(({ code }) => code)];
    const [...wanted] = new Set(targets().length ? [...targets(), ...others] : []);
    if (!wanted.length) status.textContent = "Choose a language to translate into first.";
    for (const target of chosen ? wanted.filter((code) => code !== source()) : []) {
      if (await translateFile(chosen, source(), target, status, languageName)) return;
    }
  };
  file.addEventListener("change", () => send(file.files[0]));
  field.addEventListener("dragover", (event) => event.preventDefault());
  field.addEventListener("drop", (event) => {
    if (/\.[ct]sv$/i.test(event.dataTransfer.files[0]?.name)) return; // it is no file to fill: a table of phrases
    event.preventDefault();
    send(event.dataTransfer.files[0]);
  });
  return element("div", { class: "file" }, field, status);
}

// Whether the file is not in this language already. `fuzzy`: translations of similar texts are written even if the format
// cannot mark them.
async function translateFile(file, source, target, status, languageName, fuzzy = false) {
  status.textContent = `Translating ${file.name} into ${languageName(target)} …`;
  const body = new FormData();
  body.append("file", file);
  body.append("source", source || "auto");
  body.append("target", target);
  if (fuzzy) body.append("fuzzy", "true");
  const refused = ({ problem }) => { status.textContent = problem?.error ?? problem?.detail ?? UNREACHABLE.detail; };
  const answer = await ask("translate_file", body).catch(refused);
  if (!answer) return !status.textContent.includes(OWN_LANGUAGE);
  const { pathname } = new URL(answer.translatedFileUrl);
  status.replaceChildren(element("a", { href: pathname.slice(pathname.lastIndexOf("download_file/")), download: file.name }, `Fetch ${file.name}`),
    ` in ${languageName(target)}: ${answer.translated} translated, ${answer.fuzzy} nearly, ${answer.empty} left untranslated. `);
  if (answer.looksLike) status.append(`Its texts look ${languageName(answer.looksLike)}: choose that as their language, and send it again. `);
  if (answer.fuzzy && !answer.fuzzyWritten) {
    const again = () => translateFile(file, source, target, status, languageName, true);
    status.append("What is nearly known is left untranslated, too: this format cannot mark it for checking. ",
      element("button", { type: "button", class: "plain", onclick: again }, "Fill it in anyway"));
  }
  return true;
}
