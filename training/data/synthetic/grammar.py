"""Describes drawn scenes: a small grammar for each of five languages.

A sentence names everything in which scenes differ (ground, things, colours, sizes, counts, positions);
phrasing, synonyms and order are drawn at random. Gender, case, number and measure words agree. The languages
share no template, only the scene.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

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


@dataclass(frozen=True)
class Grammar:
    """One language's words and rules.

    templates: with the fields nominative, accusative and ground, in two forms of agreement; `agreement` picks
    one (0 or 1) by the thing that governs the verb. relations: join two phrases, {a} and {b}.
    """

    grounds: Mapping[Ground, tuple[str, ...]]
    relations: Mapping[Relation, tuple[str, ...]]
    templates: tuple[tuple[str, str], ...]
    phrase: Callable[[Thing, Case, Random], str]
    agreement: Callable[[Thing], int] = lambda thing: int(thing.count > 1)
    pair_templates: tuple[tuple[str, str], ...] = ()  # those of a scene with a Pair, where they differ


def describe(scene: Scene, language: str, rng: Random) -> str:
    """Describe the scene in a sentence of `language`, a key of GRAMMARS; the phrasing is drawn with `rng`."""
    grammar = GRAMMARS[language]
    ground = rng.choice(grammar.grounds[scene.ground])
    if isinstance(scene.content, Thing):
        head, templates = scene.content, grammar.templates
        named = {case: grammar.phrase(head, case, rng) for case in CASES}
    else:
        pair = rng.choice((scene.content, _turned(scene.content)))
        head, templates = pair.first, grammar.pair_templates or grammar.templates
        named = _pair_phrases(pair, grammar, rng)
    sentence = rng.choice(templates)[grammar.agreement(head)].format(ground=ground, **named)
    return sentence[0].upper() + sentence[1:]


def _turned(pair: Pair) -> Pair:
    """The same pair, described from its other end."""
    return Pair(pair.second, pair.first, TURNED[pair.relation])


def _pair_phrases(pair: Pair, grammar: Grammar, rng: Random) -> dict[Case, str]:
    joined = rng.choice(grammar.relations[pair.relation])
    second = grammar.phrase(pair.second, "oblique", rng)
    return {case: joined.format(a=grammar.phrase(pair.first, case, rng), b=second) for case in CASES}


CASES: tuple[Case, ...] = ("nominative", "accusative")
TURNED: dict[Relation, Relation] = {"beside": "beside", "above": "below", "below": "above"}


# --- English -------------------------------------------------------------------------------------------

# shape -> (singular, plural), a tuple for each synonym
EN_NOUNS: dict[Shape, tuple[tuple[str, str], ...]] = {
    "ball": (("ball", "balls"),),
    "house": (("house", "houses"), ("cottage", "cottages")),
    "star": (("star", "stars"),),
    "tree": (("tree", "trees"),),
    "boat": (("boat", "boats"), ("sailing boat", "sailing boats")),
    "fish": (("fish", "fish"),),
    "flower": (("flower", "flowers"), ("blossom", "blossoms")),
    "box": (("box", "boxes"), ("crate", "crates")),
}
EN_SIZES: dict[Size, tuple[str, ...]] = {
    "small": ("small ", "little "),
    "medium": ("",),
    "big": ("big ", "large "),
}


def _english(thing: Thing, case: Case, rng: Random) -> str:
    noun = rng.choice(EN_NOUNS[thing.shape])[thing.count > 1]
    return f"{('a', 'two', 'three')[thing.count - 1]} {rng.choice(EN_SIZES[thing.size])}{thing.colour} {noun}"


ENGLISH = Grammar(
    grounds={
        "snow": ("in the snow", "on snowy ground"),
        "grass": ("on the grass", "in a meadow"),
        "sand": ("on the sand", "on a beach"),
        "water": ("on the water", "out at sea"),
        "night": ("at night", "in the dark"),
    },
    relations={
        "beside": ("{a} next to {b}", "{a} beside {b}"),
        "above": ("{a} above {b}", "{a} over {b}"),
        "below": ("{a} below {b}", "{a} under {b}"),
    },
    templates=(
        ("{nominative} {ground}.", "{nominative} {ground}."),
        ("There is {nominative} {ground}.", "There are {nominative} {ground}."),
        ("{ground} there is {nominative}.", "{ground} there are {nominative}."),
        ("We can see {nominative} {ground}.", "We can see {nominative} {ground}."),
    ),
    phrase=_english,
)

# --- German --------------------------------------------------------------------------------------------

# shape -> (gender, singular, plural), a tuple for each synonym
DE_NOUNS: dict[Shape, tuple[tuple[str, str, str], ...]] = {
    "ball": (("m", "Ball", "Bälle"),),
    "house": (("n", "Haus", "Häuser"),),
    "star": (("m", "Stern", "Sterne"),),
    "tree": (("m", "Baum", "Bäume"),),
    "boat": (("n", "Boot", "Boote"), ("n", "Segelboot", "Segelboote")),
    "fish": (("m", "Fisch", "Fische"),),
    "flower": (("f", "Blume", "Blumen"), ("f", "Blüte", "Blüten")),
    "box": (("f", "Kiste", "Kisten"), ("m", "Kasten", "Kästen")),
}
DE_COLOURS: dict[Colour, str] = {
    "red": "rot", "yellow": "gelb", "black": "schwarz", "white": "weiß", "blue": "blau", "green": "grün",
}  # fmt: skip
DE_SIZES: dict[Size, tuple[str, ...]] = {"small": ("klein",), "medium": ("",), "big": ("groß",)}
# (case, gender) -> (article, adjective ending) after the indefinite article; plurals after a number take -e
DE_ENDINGS: dict[tuple[Case, str], tuple[str, str]] = {
    ("nominative", "m"): ("ein", "er"), ("nominative", "f"): ("eine", "e"),
    ("nominative", "n"): ("ein", "es"), ("accusative", "m"): ("einen", "en"),
    ("accusative", "f"): ("eine", "e"), ("accusative", "n"): ("ein", "es"),
    ("oblique", "m"): ("einem", "en"), ("oblique", "f"): ("einer", "en"), ("oblique", "n"): ("einem", "en"),
}  # fmt: skip


def _german(thing: Thing, case: Case, rng: Random) -> str:
    gender, singular, plural = rng.choice(DE_NOUNS[thing.shape])
    article, ending = DE_ENDINGS[case, gender]
    if thing.count > 1:
        article, ending = ("zwei", "drei")[thing.count - 2], "e"
    adjectives = (rng.choice(DE_SIZES[thing.size]), DE_COLOURS[thing.colour])
    middle = " ".join(word + ending for word in adjectives if word)
    return f"{article} {middle} {singular if thing.count == 1 else plural}"


GERMAN = Grammar(
    grounds={
        "snow": ("im Schnee", "auf verschneitem Boden"),
        "grass": ("im Gras", "auf einer Wiese"),
        "sand": ("im Sand", "am Strand"),
        "water": ("auf dem Wasser", "auf dem Meer"),
        "night": ("bei Nacht", "im Dunkeln"),
    },
    relations={
        "beside": ("{a} neben {b}", "{a} direkt neben {b}"),
        "above": ("{a} über {b}", "{a} oberhalb von {b}"),
        "below": ("{a} unter {b}", "{a} unterhalb von {b}"),
    },
    templates=(
        ("{nominative} {ground}.", "{nominative} {ground}."),
        ("{ground} ist {nominative} zu sehen.", "{ground} sind {nominative} zu sehen."),
        ("{ground} sieht man {accusative}.", "{ground} sieht man {accusative}."),
        ("Hier sehen wir {accusative} {ground}.", "Hier sehen wir {accusative} {ground}."),
    ),
    phrase=_german,
)

# --- Portuguese ----------------------------------------------------------------------------------------

# shape -> (gender, singular, plural), a tuple for each synonym
PT_NOUNS: dict[Shape, tuple[tuple[str, str, str], ...]] = {
    "ball": (("f", "bola", "bolas"),),
    "house": (("f", "casa", "casas"),),
    "star": (("f", "estrela", "estrelas"),),
    "tree": (("f", "árvore", "árvores"),),
    "boat": (("m", "barco", "barcos"), ("m", "veleiro", "veleiros")),
    "fish": (("m", "peixe", "peixes"),),
    "flower": (("f", "flor", "flores"),),
    "box": (("f", "caixa", "caixas"), ("m", "caixote", "caixotes")),
}
# (masculine, feminine, masculine plural, feminine plural)
PT_ADJECTIVES: dict[Colour | Size, tuple[str, str, str, str]] = {
    "red": ("vermelho", "vermelha", "vermelhos", "vermelhas"),
    "yellow": ("amarelo", "amarela", "amarelos", "amarelas"),
    "black": ("preto", "preta", "pretos", "pretas"),
    "white": ("branco", "branca", "brancos", "brancas"),
    "blue": ("azul", "azul", "azuis", "azuis"),
    "green": ("verde", "verde", "verdes", "verdes"),
    "small": ("pequeno", "pequena", "pequenos", "pequenas"),
    "big": ("grande", "grande", "grandes", "grandes"),
}
PT_NUMBERS = {"m": ("um", "dois", "três"), "f": ("uma", "duas", "três")}


def _portuguese(thing: Thing, case: Case, rng: Random) -> str:
    gender, singular, plural = rng.choice(PT_NOUNS[thing.shape])
    form = (gender == "f") + 2 * (thing.count > 1)
    named = f"{singular if thing.count == 1 else plural} {PT_ADJECTIVES[thing.colour][form]}"
    if thing.size != "medium":  # the size may stand before the noun or after the colour
        size = PT_ADJECTIVES[thing.size][form]
        named = rng.choice((f"{size} {named}", f"{named} {size}"))
    return f"{PT_NUMBERS[gender][thing.count - 1]} {named}"


PORTUGUESE = Grammar(
    grounds={
        "snow": ("na neve", "no chão coberto de neve"),
        "grass": ("na grama", "no gramado"),
        "sand": ("na areia", "na praia"),
        "water": ("na água", "no mar"),
        "night": ("à noite", "no escuro"),
    },
    relations={
        "beside": ("{a} ao lado de {b}", "{a} perto de {b}"),
        "above": ("{a} acima de {b}", "{a} por cima de {b}"),
        "below": ("{a} abaixo de {b}", "{a} embaixo de {b}"),
    },
    templates=(
        ("{nominative} {ground}.", "{nominative} {ground}."),
        ("Há {nominative} {ground}.", "Há {nominative} {ground}."),
        ("{ground} vê-se {nominative}.", "{ground} veem-se {nominative}."),
        ("{ground} há {nominative}.", "{ground} há {nominative}."),
    ),
    phrase=_portuguese,
)

# --- Chinese -------------------------------------------------------------------------------------------

# shape -> (measure word, noun), a tuple for each synonym
ZH_NOUNS: dict[Shape, tuple[tuple[str, str], ...]] = {
    "ball": (("个", "球"), ("个", "皮球")),
    "house": (("座", "房子"), ("栋", "房子")),
    "star": (("颗", "星星"),),
    "tree": (("棵", "树"),),
    "boat": (("艘", "船"), ("只", "船")),
    "fish": (("条", "鱼"),),
    "flower": (("朵", "花"),),
    "box": (("个", "箱子"), ("只", "箱子")),
}
ZH_COLOURS: dict[Colour, str] = {
    "red": "红", "yellow": "黄", "black": "黑", "white": "白", "blue": "蓝", "green": "绿",
}  # fmt: skip
ZH_SIZES: dict[Size, str] = {"small": "小", "medium": "", "big": "大"}


def _chinese(thing: Thing, case: Case, rng: Random) -> str:
    measure, noun = rng.choice(ZH_NOUNS[thing.shape])
    colour = ZH_COLOURS[thing.colour]
    # A bare colour after a size would be another word (大红 is a shade), so the size always follows 色的.
    full = thing.size != "medium" or rng.random() < 0.5
    coloured = f"{colour}色的{ZH_SIZES[thing.size]}" if full else colour
    return f"{'一两三'[thing.count - 1]}{measure}{coloured}{noun}"


ZH_TEMPLATES = (
    "{ground}有{nominative}。",
    "{nominative}在{ground}。",
    "在{ground}可以看到{nominative}。",
    "图中{ground}有{nominative}。",
)
ZH_PAIR_TEMPLATES = (
    "{ground}，{nominative}。",
    "在{ground}，{nominative}。",
    "图中{ground}，{nominative}。",
)
CHINESE = Grammar(
    grounds={
        "snow": ("雪地里", "雪地上"),
        "grass": ("草地上", "草坪上"),
        "sand": ("沙滩上", "沙地上"),
        "water": ("水面上", "海面上"),
        "night": ("夜色下", "黑夜里"),
    },
    relations={
        "beside": ("{a}在{b}旁边", "{b}旁边有{a}"),
        "above": ("{a}在{b}上方", "{b}上方有{a}"),
        "below": ("{a}在{b}下方", "{b}下方有{a}"),
    },
    templates=tuple((text, text) for text in ZH_TEMPLATES),
    pair_templates=tuple((text, text) for text in ZH_PAIR_TEMPLATES),
    phrase=_chinese,
    agreement=lambda thing: 0,
)

# --- Arabic --------------------------------------------------------------------------------------------

# shape -> (gender, singular, plural), a tuple for each synonym
AR_NOUNS: dict[Shape, tuple[tuple[str, str, str], ...]] = {
    "ball": (("f", "كرة", "كرات"),),
    "house": (("m", "بيت", "بيوت"),),
    "star": (("f", "نجمة", "نجمات"),),
    "tree": (("f", "شجرة", "شجرات"),),
    "boat": (("m", "قارب", "قوارب"),),
    "fish": (("f", "سمكة", "سمكات"),),
    "flower": (("f", "زهرة", "زهرات"), ("f", "وردة", "وردات")),
    "box": (("m", "صندوق", "صناديق"),),
}
# (masculine, feminine)
AR_COLOURS: dict[Colour, tuple[str, str]] = {
    "red": ("أحمر", "حمراء"), "yellow": ("أصفر", "صفراء"), "black": ("أسود", "سوداء"),
    "white": ("أبيض", "بيضاء"), "blue": ("أزرق", "زرقاء"), "green": ("أخضر", "خضراء"),
}  # fmt: skip
AR_SIZES: dict[Size, tuple[str, str] | None] = {
    "small": ("صغير", "صغيرة"),
    "medium": None,
    "big": ("كبير", "كبيرة"),
}


def _dual(word: str, case: Case) -> str:
    """The dual of a singular: ة opens to ت, the ء of a feminine colour to و."""
    ending = "ان" if case == "nominative" else "ين"
    return {"ة": word[:-1] + "ت", "ء": word[:-1] + "و"}.get(word[-1], word) + ending


def _arabic(thing: Thing, case: Case, rng: Random) -> str:
    gender, noun, plural = rng.choice(AR_NOUNS[thing.shape])
    colour, size = AR_COLOURS[thing.colour], AR_SIZES[thing.size]
    forms = [colour] if size is None else [colour, size]
    if thing.count == 3:  # the numeral's gender is opposite to the noun's; plurals take feminine adjectives
        return " ".join(["ثلاث" if gender == "f" else "ثلاثة", plural, *(feminine for _, feminine in forms)])
    words = [noun, *(form[gender == "f"] for form in forms)]
    if thing.count == 2:
        return " ".join(_dual(word, case) for word in words)
    if case == "accusative" and gender == "m":  # nunation is written; colours (diptotes) have none
        return " ".join(word if word == colour[0] else word + "ًا" for word in words)
    return " ".join(words)


ARABIC = Grammar(
    grounds={
        "snow": ("في الثلج", "على الثلج"),
        "grass": ("على العشب", "في المرج"),
        "sand": ("على الرمل", "على الشاطئ"),
        "water": ("على الماء", "في البحر"),
        "night": ("في الليل", "في الظلام"),
    },
    relations={
        "beside": ("{a} بجانب {b}", "{a} قرب {b}"),
        "above": ("{a} فوق {b}", "{a} أعلى {b}"),
        "below": ("{a} تحت {b}", "{a} أسفل {b}"),
    },
    templates=(
        ("{nominative} {ground}.", "{nominative} {ground}."),
        ("يوجد {nominative} {ground}.", "توجد {nominative} {ground}."),
        ("{ground} {nominative}.", "{ground} {nominative}."),
        ("نرى {accusative} {ground}.", "نرى {accusative} {ground}."),
    ),
    phrase=_arabic,
    agreement=lambda thing: int(AR_NOUNS[thing.shape][0][0] == "f"),
)

GRAMMARS = {"en": ENGLISH, "de": GERMAN, "pt": PORTUGUESE, "zh": CHINESE, "ar": ARABIC}
