// The languages of the index: how much it has of each, how similar they are, how well each pair translates.

import { drawn, element, percent } from "./dom.js";

const WIDTH = 560, HEIGHT = 380, EDGE = 56, LETTER = 8.2, LEAST_RANK = 0.4;

export function languagesView(languages) {
  const held = languages.filter(({ nearness }) => Object.keys(nearness).length);
  const parts = [counts(languages)];
  if (languages.some(({ quality }) => quality && Object.keys(quality).length)) parts.push(quality(languages));
  if (held.length > 2) parts.push(map(held));
  return parts;
}

// ---- contents

function counts(languages) {
  const sourcesOnly = languages.filter(({ sentences }) => !sentences).map(({ name }) => name);
  const note = sourcesOnly.length ? `You can also translate from these ${sourcesOnly.length} languages, but not into them, as the index has no `
    + `sentences in them: ${sourcesOnly.join(", ")}.` : "";
  const rows = languages.filter(({ sentences }) => sentences).map(({ code, name, sentences, words, nearness }) => {
    const nearest = Object.keys(nearness).sort((a, b) => nearness[b] - nearness[a]).slice(0, 3);
    return element("tr", {}, element("th", { scope: "row" }, name), cell(code),
      cell(sentences.toLocaleString("en"), "number"), cell(words.toLocaleString("en"), "number"),
      cell(nearest.map((other) => languages.find((language) => language.code === other)?.name ?? other).join(", ") || "–"));
  });
  const names = ["Language", "Code", "Sentences", "Words", "Nearest"];
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

// ---- how near

function map(languages) {
  const distance = languages.map((a) => languages.map((b) => (a === b ? 0 : 1 - nearness(a, b))));
  const places = fitted(scaled(evened(distance)));
  const labels = labelled(places, languages.map(({ name }) => name));
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "map", "aria-labelledby": "map-title" },
    drawn("title", { id: "map-title" }, "A map of the languages; languages that the encoder finds similar are close together"),
    ...links(distance, places), ...languages.flatMap(({ name }, number) => [
      drawn("circle", { cx: places[number][0], cy: places[number][1], r: 5 }),
      drawn("text", labels[number], name)]));
  return section("Which languages are similar", "Languages are close together when the encoder gives their sentences similar vectors; each is linked to its "
    + "nearest. Two dimensions can show only the order, and that roughly; “Nearest” in the table above is exact.",
    scrolled("Map of the languages", picture));
}

// By rank: one language that is far from all others would leave the rest no room for their names.
function evened(distance) {
  const sorted = distance.flat().filter((value) => value > 0).sort((a, b) => a - b);
  return distance.map((row) => row.map((value) => (value > 0 ? LEAST_RANK + sorted.indexOf(value) / sorted.length : 0)));
}

function nearness(a, b) {
  return ((a.nearness[b.code] ?? 0) + (b.nearness[a.code] ?? 0)) / 2;
}

// Classical scaling (Torgerson 1952): the two main axes of the doubly centred squared distances.
function scaled(distance) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const squared = distance.map((row) => row.map((value) => value * value));
  const means = squared.map(mean);
  const centred = squared.map((row, i) => row.map((value, j) => -(value - means[i] - means[j] + mean(means)) / 2));
  const first = axis(centred, []);
  return first.map((x, i) => [x, axis(centred, [first])[i]]);
}

// The main axis of a symmetric matrix orthogonal to those `known`, by power iteration, scaled by its importance.
function axis(matrix, known) {
  let vector = matrix.map((_, i) => Math.cos(1 + 2 * i));
  let length = 1;
  for (let round = 0; round < 300; round += 1) {
    for (const other of known) {
      const norm = other.reduce((sum, x) => sum + x * x, 0) || 1;
      const share = other.reduce((sum, x, i) => sum + x * vector[i], 0) / norm;
      vector = vector.map((x, i) => x - share * other[i]);
    }
    vector = matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));
    length = Math.hypot(...vector) || 1;
    vector = vector.map((x) => x / length);
  }
  return vector.map((x) => x * Math.sqrt(length));
}

// On the picture: as large as fits, the same scale in both directions.
function fitted(places) {
  const columns = [0, 1].map((k) => places.map((place) => place[k]));
  const [least, most] = [columns.map((c) => Math.min(...c)), columns.map((c) => Math.max(...c))];
  const scale = Math.min((WIDTH - 2 * EDGE) / (most[0] - least[0] || 1), (HEIGHT - 2 * EDGE) / (most[1] - least[1] || 1));
  const middle = [WIDTH / 2, HEIGHT / 2];
  return places.map((place) => place.map((x, k) => middle[k] + (x - (least[k] + most[k]) / 2) * scale));
}

// Places each name next to its point, where it covers the fewest other names and points.
function labelled(places, names) {
  const taken = places.map(([x, y]) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
  return places.map(([x, y], number) => {
    const width = names[number].length * LETTER;
    const ways = [[0, -10, "middle"], [10, 5, "start"], [-10, 5, "end"], [0, 21, "middle"], [10, -10, "start"], [-10, -10, "end"],
      [10, 21, "start"], [-10, 21, "end"]].map(([right, down, anchor]) => {
      const left = x + right - width * { start: 0, middle: 0.5, end: 1 }[anchor];
      const box = { left, right: left + width, top: y + down - 13, bottom: y + down + 4 };
      const outside = box.left < 0 || box.right > WIDTH ? 4 : 0;
      return { anchor, right, down, box, cost: outside + taken.filter((other) => overlap(box, other)).length };
    });
    const best = ways.reduce((least, way) => (way.cost < least.cost ? way : least));
    taken.push(best.box);
    return { x: x + best.right, y: y + best.down, "text-anchor": best.anchor };
  });
}

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function links(distance, places) {
  return distance.map((row, from) => {
    const to = row.reduce((best, value, i) => (i !== from && (best < 0 || value < row[best]) ? i : best), -1);
    return drawn("line", { x1: places[from][0], y1: places[from][1], x2: places[to][0], y2: places[to][1] });
  });
}

// ---- building blocks

function section(title, note, ...content) {
  return element("section", { class: "view" }, element("h2", {}, title), ...(note ? [element("p", {}, note)] : []), ...content);
}

function scrolled(label, table) {
  return element("div", { class: "scrolled", role: "region", "aria-label": label, tabindex: "0" }, table);
}
