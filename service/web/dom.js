// Helpers to make elements; text enters the page as text only.

export const UNREACHABLE = { title: "No answer", detail: "The service cannot be reached. Is it still running?" };

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

let fields = 0; // made so far

export function field(label, control) {
  control.id ||= `field-${fields += 1}`;
  return element("div", { class: "field" }, element("label", { for: control.id }, label), control);
}

export function percent(share) {
  return `${Math.round(share * 100)}%`;
}

// A bar for a share from 0 to 1; the number is shown next to it.
export function bar(share) {
  const track = element("span", { class: "bar", "aria-hidden": "true" }, element("span"));
  track.firstChild.style.setProperty("--level", Math.max(0, Math.min(1, share)) * 100);
  return track;
}

// body: a file or form, which is sent as it is, or what is sent as JSON.
export async function ask(path, body, signal, headers = {}) {
  const file = body instanceof Blob, form = body instanceof FormData;
  const type = body && !form && { "Content-Type": file ? "application/octet-stream" : "application/json" };
  const options = body && { method: "POST", body: file || form ? body : JSON.stringify(body) };
  const response = await fetch(path, { ...options, headers: { ...type, ...headers }, signal });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  throw Object.assign(new Error("refused"), { problem: answer ?? { title: `Error ${response.status}` } });
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers offer the clipboard only to secure pages; other pages copy a selection.
    const box = element("textarea", { class: "unseen", "aria-hidden": "true" });
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done;
  }
}
