// Explains an answer: the parts of its score, and the other routes that lead to it.

import { bar, element } from "./dom.js";

const number = (value) => value.toFixed(2).replace("-", "−");

export function reasons(answer, source, languageName) {
  const { explanation: why } = answer;
  return [
    element("p", {}, verdict(why)),
    element("ul", { class: "ways" }, ...ways(why.agreement, source, languageName)),
    element("dl", { class: "parts" },
      part("How alike the two are", why.cosine, true, "1 would be the same scene in every detail (the cosine of their vectors)."),
      part("How common your text is", why.question_mean, true, "How alike the ten nearest sentences are to it. What is close to everything says little, so this is taken off."),
      part("How common the answer is", why.answer_mean, true, "The same, seen from the answer."),
      part("What is left", answer.score, false, `2 × ${number(why.cosine)} − ${number(why.question_mean)} − ${number(why.answer_mean)}. Answers are ranked by this.`),
      part(why.margin < 0 ? "Behind the best answer" : "Ahead of the next answer", Math.abs(why.margin), false,
        `Chosen from ${why.candidates.toLocaleString("en")} candidates.`)),
  ];
}

// Where the answer comes from: the corpus's own translation, or the file that contains it.
export function origin(answer) {
  const { match, original, similarity, metadata: { file } } = answer;
  const place = element("span", { class: "place" }, file ? `${file} · ${answer.id}` : answer.id);
  if (!original) return [place];
  const alike = match === "exact" ? "this very text" : `a ${Math.round(similarity * 100)}% match`;
  return [element("span", { class: "memory" }, `Your corpus gives this translation for “${original.text}”, ${alike}.`), place];
}

function verdict({ agreement: { direct, via } }) {
  const leading = via.filter(({ place }) => place === 1).length;
  if (!via.length) return direct ? "There is no third language to check with." : "There is no other language to check with.";
  const others = `${leading} of ${via.length} other languages`;
  if (leading === via.length) return `All ${via.length} other languages lead to this answer too.`;
  return leading ? `${others} lead to this answer too.` : "No other language has this as its first answer.";
}

function ways({ direct, via }, source, languageName) {
  const routes = via.map((way) => element("li", { "data-agrees": way.place === 1 },
    `Via ${languageName(way.language)}: `, quoted(way.text, way.language), leads(way.place)));
  if (direct) {
    routes.unshift(element("li", { "data-agrees": direct.cosine > 0.8 },
      `Back into ${languageName(source)}: `, quoted(direct.text, source), `, similarity ${number(direct.cosine)}`));
  }
  return routes;
}

function leads(place) {
  if (place === 1) return ", which leads here";
  return place ? `, which has this as answer ${place}` : ", which leads elsewhere";
}

function quoted(text, code) {
  return element("q", { lang: code, dir: "auto" }, text);
}

function part(name, value, share, meaning) {
  const shown = [element("b", {}, number(value))];
  if (share) shown.push(bar(value));
  return element("div", {}, element("dt", {}, name), element("dd", {}, ...shown),
    element("dd", { class: "meaning" }, meaning));
}
