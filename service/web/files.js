// Translates a file, chosen or dropped, from the translation memory.

import { element } from "./dom.js";

// As the service fills them (index/formats/registry.py).
const FILE_EXTENSIONS = ".txt,.tmx,.xlf,.xliff,.sdlxliff,.mqxliff,.mxliff,.po,.pot,.json,.arb,.xcstrings,.yaml,.yml,.stringsdict,.resx,.strings,"
  + ".properties,.srt,.vtt,.html,.htm,.docx,.xlsx,.xml";

export function fileView({ source, targets, languageName }) {
  const file = element("input", { type: "file", accept: FILE_EXTENSIONS });
  const status = element("p", { class: "quiet", role: "status" });
  const field = element("label", { class: "drop" }, "A whole file (PO, XLIFF, TMX, texts of a program, subtitles, DOCX, …): choose it, or drop it here ", file);
  const send = (chosen) => chosen && translateFile(chosen, source(), targets()[0], status, languageName);
  file.addEventListener("change", () => send(file.files[0]));
  field.addEventListener("dragover", (event) => event.preventDefault());
  field.addEventListener("drop", (event) => {
    event.preventDefault();
    send(event.dataTransfer.files[0]);
  });
  return element("div", { class: "file" }, field, status);
}

// fuzzy: whether to write translations of similar texts even if the format cannot mark them.
async function translateFile(file, source, target, status, languageName, fuzzy = false) {
  if (!target) {
    status.textContent = "Choose a language to translate into first.";
    return;
  }
  status.textContent = `Translating ${file.name} into ${languageName(target)} …`;
  const body = new FormData();
  body.append("file", file);
  body.append("source", source || "auto");
  body.append("target", target);
  if (fuzzy) body.append("fuzzy", "true");
  const response = await fetch("translate_file", { method: "POST", body }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (!response?.ok || !answer) {
    status.textContent = answer?.error ?? answer?.detail ?? "The service cannot be reached. Is it still running?";
    return;
  }
  const { pathname } = new URL(answer.translatedFileUrl);
  status.replaceChildren(element("a", { href: pathname.slice(pathname.lastIndexOf("download_file/")), download: file.name }, `Fetch ${file.name}`),
    ` in ${languageName(target)}: ${answer.translated} translated, ${answer.fuzzy} nearly, ${answer.empty} left untranslated. `);
  if (answer.fuzzy && !answer.fuzzyWritten) {
    const again = () => translateFile(file, source, target, status, languageName, true);
    status.append("What is nearly known is left untranslated, too: this format cannot mark it for checking. ",
      element("button", { type: "button", class: "plain", onclick: again }, "Fill it in anyway"));
  }
}
