// Why an answer: what its score is made of, and what else leads to it.

import { bar, element } from "./dom.js";

const number = (value) => value.toFixed(2).replace("-", "−");

export function reasons(answer, source, languageName) {
  const { explanation: why } = answer;
  return [
    element("p", {}, verdict(why)),
    element("ul", { class: "ways" }, ...ways(why.agreement, source, languageName)),
    element("dl", { class: "parts" },
      part("Alike", why.cosine, true, "How near text and answer lie in what the encoder sees; 1 at most."),
      part("Around the text", why.question_mean, true, "How near its ten nearest are. It is taken off, since what is near everything says little."),
      part("Around the answer", why.answer_mean, true, "The same from the answer's side."),
      part("Score", answer.score, false, `2 × ${number(why.cosine)} − ${number(why.question_mean)} − ${number(why.answer_mean)}. Answers are ranked by it.`),
      part(why.margin < 0 ? "Behind the best" : "Ahead of the next", Math.abs(why.margin), false,
        `There were ${why.candidates.toLocaleString("en")} to choose from.`)),
  ];
}

// Where the answer is from: the corpus itself says so, or the file that holds it.
export function origin(answer) {
  const { memory, file } = answer.metadata;
  const place = element("span", { class: "place" }, file ? `${file} · ${answer.id}` : answer.id);
  if (!memory) return [place];
  const alike = memory.similarity === 1 ? "just this text" : `${Math.round(memory.similarity * 100)} % this text`;
  return [element("span", { class: "memory" }, `Your corpus translates “${memory.source}” so, which is ${alike}.`), place];
}

function verdict({ agreement: { direct, via } }) {
  const leading = via.filter(({ place }) => place === 1).length;
  if (!via.length) return direct ? "There is no third language to ask." : "No other language could be asked.";
  const others = `${leading} of ${via.length} other languages`;
  if (leading === via.length) return `All ${via.length} other languages lead to this answer, too.`;
  return leading ? `${others} lead to this answer, too.` : "No other language leads to this answer first.";
}

function ways({ direct, via }, source, languageName) {
  const found = via.map((way) => element("li", { "data-agrees": way.place === 1 },
    `Through ${languageName(way.language)}: `, quoted(way.text, way.language), leads(way.place)));
  if (direct) {
    found.unshift(element("li", { "data-agrees": direct.cosine > 0.8 },
      `Back into ${languageName(source)}: `, quoted(direct.text, source), `, ${number(direct.cosine)} alike`));
  }
  return found;
}

function leads(place) {
  if (place === 1) return ", which leads here";
  return place ? `, which has this as its answer ${place}` : ", which leads elsewhere";
}

function quoted(text, code) {
  return element("q", { lang: code, dir: "auto" }, text);
}

function part(name, value, share, meaning) {
  const said = [element("b", {}, number(value))];
  if (share) said.push(bar(value));
  return element("div", {}, element("dt", {}, name), element("dd", {}, ...said),
    element("dd", { class: "meaning" }, meaning));
}
