// What every part of the page is made with. Text only ever enters the page as text.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function percent(share) {
  return `${Math.round(share * 100)}%`;
}

// A share of 1, drawn; the number stands beside it.
export function bar(share) {
  const made = element("span", { class: "bar", "aria-hidden": "true" }, element("span"));
  made.firstChild.style.setProperty("--level", Math.max(0, Math.min(1, share)) * 100);
  return made;
}

export async function ask(path, body, signal, headers = {}) {
  const options = body
    ? { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) }
    : { headers };
  const response = await fetch(path, { ...options, signal });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  throw Object.assign(new Error("refused"), { problem: answer ?? { title: `Error ${response.status}` } });
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers offer the clipboard to secure pages only: elsewhere, the old way.
    const box = element("textarea", { class: "unseen", "aria-hidden": "true" });
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done;
  }
}
