"""The captions are held against a word list of their own, written here, not against the grammar's tables."""

import re
import unicodedata
from functools import cache
from random import Random

import pytest

from training.data.synthetic.dataset import CAPTIONS_PER_PICTURE, draw_scenes
from training.data.synthetic.grammar import GRAMMARS, Pair, Relation, Scene, Thing, describe

# language -> meaning -> the forms that name it and nothing else does
MEANINGS: dict[str, dict[str, str]] = {
    "en": {
        "snow": "snow|snowy", "grass": "grass|meadow", "sand": "sand|beach", "water": "water|sea",
        "night": "night|dark", "ball": "balls?", "house": "houses?|cottages?", "star": "stars?",
        "tree": "trees?", "boat": "boats?", "fish": "fish", "flower": "flowers?|blossoms?",
        "box": "box|boxes|crates?", "red": "red", "yellow": "yellow", "black": "black", "white": "white",
        "blue": "blue", "green": "green", "small": "small|little", "big": "big|large",
        "2": "two", "3": "three",
    },
    "de": {
        "snow": "schnee|verschneitem", "grass": "gras|wiese", "sand": "sand|strand", "water": "wasser|meer",
        "night": "nacht|dunkeln", "ball": "ball|bälle", "house": "haus|häuser", "star": "sterne?",
        "tree": "baum|bäume", "boat": "(segel)?boote?", "fish": "fische?", "flower": "blumen?|blüten?",
        "box": "kisten?|kasten|kästen", "red": "rote[nrs]?", "yellow": "gelbe[nrs]?",
        "black": "schwarze[nrs]?", "white": "weiße[nrs]?", "blue": "blaue[nrs]?", "green": "grüne[nrs]?",
        "small": "kleine[nrs]?", "big": "große[nrs]?", "2": "zwei", "3": "drei",
    },
    "pt": {
        "snow": "neve", "grass": "grama|gramado", "sand": "areia|praia", "water": "água|mar",
        "night": "noite|escuro", "ball": "bolas?", "house": "casas?", "star": "estrelas?",
        "tree": "árvores?", "boat": "barcos?|veleiros?", "fish": "peixes?", "flower": "flor(es)?",
        "box": "caixas?|caixotes?", "red": "vermelh[oa]s?", "yellow": "amarel[oa]s?", "black": "pret[oa]s?",
        "white": "branc[oa]s?", "blue": "azul|azuis", "green": "verdes?", "small": "pequen[oa]s?",
        "big": "grandes?", "2": "dois|duas", "3": "três",
    },
    "zh": {
        "snow": "雪地", "grass": "草地|草坪", "sand": "沙滩|沙地", "water": "水面|海面", "night": "夜",
        "ball": "球", "house": "房子", "star": "星星", "tree": "树", "boat": "船", "fish": "鱼",
        "flower": "花", "box": "箱子", "red": "红", "yellow": "黄", "black": "黑(?!夜)", "white": "白",
        "blue": "蓝", "green": "绿", "small": "小", "big": "大", "2": "两", "3": "三",
    },
    "ar": {
        "snow": "الثلج", "grass": "العشب|المرج", "sand": "الرمل|الشاطئ", "water": "الماء|البحر",
        "night": "الليل|الظلام", "ball": "كرة|كرات|كرتان|كرتين", "house": "بيتًا|بيت|بيوت|بيتان|بيتين",
        "star": "نجمة|نجمات|نجمتان|نجمتين", "tree": "شجرة|شجرات|شجرتان|شجرتين",
        "boat": "قاربًا|قارب|قوارب|قاربان|قاربين", "fish": "سمكة|سمكات|سمكتان|سمكتين",
        "flower": "زهرة|زهرات|زهرتان|زهرتين|وردة|وردات|وردتان|وردتين",
        "box": "صندوقًا|صندوق|صناديق|صندوقان|صندوقين", "red": "أحمر|أحمران|أحمرين|حمراء|حمراوان|حمراوين",
        "yellow": "أصفر|أصفران|أصفرين|صفراء|صفراوان|صفراوين",
        "black": "أسود|أسودان|أسودين|سوداء|سوداوان|سوداوين",
        "white": "أبيض|أبيضان|أبيضين|بيضاء|بيضاوان|بيضاوين",
        "blue": "أزرق|أزرقان|أزرقين|زرقاء|زرقاوان|زرقاوين",
        "green": "أخضر|أخضران|أخضرين|خضراء|خضراوان|خضراوين",
        "small": "صغيرة?|صغيرًا|صغيران|صغيرين|صغيرتان|صغيرتين",
        "big": "كبيرة?|كبيرًا|كبيران|كبيرين|كبيرتان|كبيرتين", "2": r"\w+(تان|تين|يتان|يتين|بان|بين|قان|قين)",
        "3": "ثلاثة?",
    },
}  # fmt: skip
SCRIPTS = {"en": "LATIN", "de": "LATIN", "pt": "LATIN", "zh": "CJK", "ar": "ARABIC"}
# language -> a sentence tells the order of two things by these; ABOVE: the first named is above
ABOVE = {
    "en": "above|over",
    "de": "über|oberhalb",
    "pt": "acima|por cima",
    "zh": "在.*上方",
    "ar": "فوق|أعلى",
}
BELOW = {
    "en": "below|under",
    "de": "unter|unterhalb",
    "pt": "abaixo|embaixo",
    "zh": "在.*下方",
    "ar": "تحت|أسفل",
}
SCENES = draw_scenes(200, seed=5)

each_language = pytest.mark.parametrize("language", sorted(GRAMMARS))


def meanings(text: str, language: str) -> set[str]:
    found = set()
    for meaning, forms in MEANINGS[language].items():
        pattern = forms if language == "zh" else rf"\b({forms})\b"
        if re.search(pattern, text.lower()):
            found.add(meaning)
    return found


def expected(scene: Scene) -> set[str]:
    content = scene.content
    named = [content] if isinstance(content, Thing) else [content.first, content.second]
    words = {scene.ground, *(t.shape for t in named), *(t.colour for t in named), *(t.size for t in named)}
    counts = {str(t.count) for t in named if t.count > 1}
    return {str(word) for word in words} - {"medium"} | counts


@cache
def sentences(scene: Scene, language: str) -> set[str]:
    rng = Random(f"{scene} {language}")
    return {describe(scene, language, rng) for _ in range(60)}


@each_language
def test_a_sentence_says_what_the_scene_shows_and_nothing_else(language: str) -> None:
    for scene in SCENES:
        for text in sentences(scene, language):
            assert meanings(text, language) == expected(scene), (text, scene)


@each_language
def test_sentences_are_finished(language: str) -> None:
    for scene in SCENES:
        for text in sentences(scene, language):
            assert not re.search(r"[{}]|\s\s|\s$|^\s|\s[.。，]", text), text
            assert text.endswith("。" if language == "zh" else "."), text
            assert text[0] == text[0].upper(), text
            assert unicodedata.is_normalized("NFC", text), text


@each_language
def test_sentences_are_in_the_script_of_their_language(language: str) -> None:
    for scene in SCENES:
        letters = {letter for text in sentences(scene, language) for letter in text if letter.isalpha()}
        assert all(unicodedata.name(letter).startswith(SCRIPTS[language]) for letter in letters)


@each_language
def test_a_scene_has_many_sentences(language: str) -> None:
    for scene in SCENES:
        assert len(sentences(scene, language)) > CAPTIONS_PER_PICTURE


@each_language
def test_different_scenes_share_no_sentence(language: str) -> None:
    """What is drawn decides the sentence, and the sentence tells what was drawn."""
    owner: dict[str, Scene] = {}
    for scene in SCENES:
        for text in sentences(scene, language):
            assert owner.setdefault(text, scene) == scene, text


@each_language
@pytest.mark.parametrize("relation", ["above", "below"])
def test_the_upper_thing_is_distinguished_from_the_lower(language: str, relation: Relation) -> None:
    scene = Scene("sand", Pair(Thing("ball", "red"), Thing("tree", "blue"), relation))
    words = MEANINGS[language]
    for text in sentences(scene, language):
        ball, tree = (re.search(words[shape], text.lower()).start() for shape in ("ball", "tree"))  # type: ignore[union-attr]
        named_first_is_above = re.search(ABOVE[language], text.lower()) is not None
        if language == "zh" and "方有" in text:  # "above B there is A": the second named is the one placed
            named_first_is_above = "下方有" in text
        elif not named_first_is_above:
            assert re.search(BELOW[language], text.lower())
        assert (ball < tree) == ((relation == "above") == named_first_is_above), text


# What must agree, by example: (scene content, language, what one of the sentences must be)
AGREEMENT = [
    (Thing("ball", "red", "small"), "de", "Auf einer Wiese sieht man einen kleinen roten Ball."),
    (Thing("house", "white", "big"), "de", "Ein großes weißes Haus im Gras."),
    (Thing("flower", "blue", "small", 2), "de", "Im Gras sind zwei kleine blaue Blumen zu sehen."),
    (Pair(Thing("fish", "red"), Thing("box", "blue"), "above"), "de",
     "Ein roter Fisch über einer blauen Kiste im Gras."),
    (Pair(Thing("fish", "red"), Thing("boat", "blue"), "beside"), "de",
     "Hier sehen wir einen roten Fisch neben einem blauen Boot auf einer Wiese."),
    (Thing("fish", "green", "big", 3), "en", "On the grass there are three large green fish."),
    (Thing("star", "yellow", "small", 2), "pt", "Na grama veem-se duas pequenas estrelas amarelas."),
    (Thing("boat", "blue", "big", 3), "pt", "Há três barcos azuis grandes no gramado."),
    (Thing("fish", "red", "small", 2), "pt", "Dois peixes vermelhos pequenos na grama."),
    (Thing("fish", "red", "small", 2), "zh", "草地上有两条红色的小鱼。"),
    (Pair(Thing("fish", "red"), Thing("box", "blue"), "above"), "zh",
     "草地上，一条红鱼在一个蓝色的箱子上方。"),
    (Thing("house", "black", "big"), "ar", "نرى بيتًا أسود كبيرًا على العشب."),
    (Thing("star", "white", "big", 2), "ar", "نرى نجمتين بيضاوين كبيرتين على العشب."),
    (Thing("boat", "blue", "small", 2), "ar", "يوجد قاربان أزرقان صغيران في المرج."),
    (Thing("boat", "blue", "small", 3), "ar", "ثلاثة قوارب زرقاء صغيرة على العشب."),
    (Thing("fish", "blue", "small", 3), "ar", "توجد ثلاث سمكات زرقاء صغيرة في المرج."),
]  # fmt: skip


@pytest.mark.parametrize(("content", "language", "sentence"), AGREEMENT, ids=lambda value: str(value)[:40])
def test_agreement(content: Thing | Pair, language: str, sentence: str) -> None:
    rng = Random(0)
    assert sentence in {describe(Scene("grass", content), language, rng) for _ in range(2000)}
