"""Describes drawn scenes: a small grammar for each of five languages.

A sentence names everything in which scenes differ (ground, things, colours, sizes, counts, positions);
phrasing, synonyms and order are drawn at random. Gender, case, number and measure words agree. The languages
share no template, only the scene; their words are in grammars.toml.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

Ground = Literal["snow", "grass", "sand", "water", "night"]
Shape = Literal["ball", "house", "star", "tree", "boat", "fish", "flower", "box"]
Colour = Literal["red", "yellow", "black", "white", "blue", "green"]
Size = Literal["small", "medium", "big"]
Relation = Literal["beside", "above", "below"]
Case = Literal["nominative", "accusative", "oblique"]


@dataclass(frozen=True)
class Thing:
    """One kind of object: 1 to 3 of them, all alike. A `medium` size is not mentioned."""

    shape: Shape
    colour: Colour
    size: Size = "medium"
    count: int = 1


@dataclass(frozen=True)
class Pair:
    """Two single things: `first` is `relation` `second`."""

    first: Thing
    second: Thing
    relation: Relation


@dataclass(frozen=True)
class Scene:
    """What a picture shows, and all that it shows."""

    ground: Ground
    content: Thing | Pair


Words = Mapping[str, Any]  # a language's table in grammars.toml
WORDS: Mapping[str, Words] = tomllib.loads(Path(__file__).with_name("grammars.toml").read_text("utf-8"))
CASES: tuple[Case, ...] = ("nominative", "accusative")
TURNED_RELATIONS: dict[Relation, Relation] = {"beside": "beside", "above": "below", "below": "above"}


@dataclass(frozen=True)
class Grammar:
    """One language's words and rules.

    words: `templates` have the fields nominative, accusative and ground, some in two forms of agreement;
    `pair_templates` are those of a scene with a Pair, where they differ; `relations` join two phrases, {a}
    and {b}. phrase: names a thing. agreement: picks the form (0 or 1) by the thing that governs the verb.
    """

    words: Words
    phrase: Callable[[Words, Thing, Case, Random], str]
    agreement: Callable[[Thing], int] = lambda thing: int(thing.count > 1)

    def name(self, thing: Thing, case: Case, rng: Random) -> str:
        """Name a thing."""
        return self.phrase(self.words, thing, case, rng)


def describe(scene: Scene, language: str, rng: Random) -> str:
    """Describe the scene in a sentence of `language`, a key of GRAMMARS; the phrasing is drawn with `rng`."""
    grammar = GRAMMARS[language]
    words = grammar.words
    ground = rng.choice(words["grounds"][scene.ground])
    if isinstance(scene.content, Thing):
        head, templates = scene.content, words["templates"]
        named = {case: grammar.name(head, case, rng) for case in CASES}
    else:
        pair = rng.choice((scene.content, _turned(scene.content)))
        head, templates = pair.first, words.get("pair_templates", words["templates"])
        named = _pair_phrases(pair, grammar, rng)
    template = rng.choice(templates)
    form = template if isinstance(template, str) else template[grammar.agreement(head)]
    sentence: str = form.format(ground=ground, **named)
    return sentence[0].upper() + sentence[1:]


def _turned(pair: Pair) -> Pair:
    """The same pair, described from its other end."""
    return Pair(pair.second, pair.first, TURNED_RELATIONS[pair.relation])


def _pair_phrases(pair: Pair, grammar: Grammar, rng: Random) -> dict[Case, str]:
    joined = rng.choice(grammar.words["relations"][pair.relation])
    second = grammar.name(pair.second, "oblique", rng)
    return {case: joined.format(a=grammar.name(pair.first, case, rng), b=second) for case in CASES}


def _english(words: Words, thing: Thing, case: Case, rng: Random) -> str:
    noun = rng.choice(words["nouns"][thing.shape])[thing.count > 1]
    size = rng.choice(words["sizes"][thing.size])
    return f"{words['numbers'][thing.count - 1]} {size}{thing.colour} {noun}"


def _german(words: Words, thing: Thing, case: Case, rng: Random) -> str:
    gender, singular, plural = rng.choice(words["nouns"][thing.shape])
    article, ending = words["endings"][case][gender]
    if thing.count > 1:
        article, ending = words["numbers"][thing.count - 2], "e"
    adjectives = (rng.choice(words["sizes"][thing.size]), words["colours"][thing.colour])
    middle = " ".join(word + ending for word in adjectives if word)
    return f"{article} {middle} {singular if thing.count == 1 else plural}"


def _portuguese(words: Words, thing: Thing, case: Case, rng: Random) -> str:
    gender, singular, plural = rng.choice(words["nouns"][thing.shape])
    form = (gender == "f") + 2 * (thing.count > 1)
    named = f"{singular if thing.count == 1 else plural} {words['adjectives'][thing.colour][form]}"
    if thing.size != "medium":  # the size may stand before the noun or after the colour
        size = words["adjectives"][thing.size][form]
        named = rng.choice((f"{size} {named}", f"{named} {size}"))
    return f"{words['numbers'][gender][thing.count - 1]} {named}"


def _chinese(words: Words, thing: Thing, case: Case, rng: Random) -> str:
    measure, noun = rng.choice(words["nouns"][thing.shape])
    colour = words["colours"][thing.colour]
    # A bare colour after a size would be another word (大红 is a shade), so the size always follows 色的.
    full = thing.size != "medium" or rng.random() < 0.5
    coloured = f"{colour}色的{words['sizes'][thing.size]}" if full else colour
    return f"{words['numbers'][thing.count - 1]}{measure}{coloured}{noun}"


def _dual(word: str, case: Case) -> str:
    """The dual of a singular: ة opens to ت, the ء of a feminine colour to و."""
    ending = "ان" if case == "nominative" else "ين"
    return {"ة": word[:-1] + "ت", "ء": word[:-1] + "و"}.get(word[-1], word) + ending


def _arabic(words: Words, thing: Thing, case: Case, rng: Random) -> str:
    gender, noun, plural = rng.choice(words["nouns"][thing.shape])
    colour = words["adjectives"][thing.colour]
    forms = [colour] if thing.size == "medium" else [colour, words["adjectives"][thing.size]]
    if thing.count == 3:  # the numeral's gender is opposite to the noun's; plurals take feminine adjectives
        return " ".join([words["three"][gender], plural, *(feminine for _, feminine in forms)])
    phrase = [noun, *(form[gender == "f"] for form in forms)]
    if thing.count == 2:
        return " ".join(_dual(word, case) for word in phrase)
    if case == "accusative" and gender == "m":  # nunation is written; colours (diptotes) have none
        return " ".join(word if word == colour[0] else word + "ًا" for word in phrase)
    return " ".join(phrase)


GRAMMARS = {
    "en": Grammar(WORDS["en"], _english),
    "de": Grammar(WORDS["de"], _german),
    "pt": Grammar(WORDS["pt"], _portuguese),
    "zh": Grammar(WORDS["zh"], _chinese, lambda thing: 0),
    "ar": Grammar(WORDS["ar"], _arabic, lambda thing: int(WORDS["ar"]["nouns"][thing.shape][0][0] == "f")),
}
