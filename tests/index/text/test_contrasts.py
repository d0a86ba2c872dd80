"""Opposites are told apart, in one language and across two; the same said in other words is no contrast."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.encoder.text_encoder import TextEncoder
from index.languages import language
from index.text import speakers
from index.text.contrasts import lexicon
from index.text.contrasts.compare import WITHIN, contrasts
from index.text.contrasts.lexicon import (
    AFFIRMATIVE,
    CHOICE,
    EVENT_FIRST,
    POLITE,
    POLITE_FORMS,
    POSTPOSITIONS,
    PREFIX,
    SEPARABLE,
    known_languages,
    said,
)
from index.text.contrasts.meanings import Meanings
from index.text.normalisation import words
from index.text.number_words import contradict, numbers_in

LANGUAGES = sorted(known_languages())
EVERYDAY = Path(__file__).parents[3] / "corpora" / "everyday"
MOST_FALSE = 0.02  # of translations that somebody wrote, in any pair of languages


def axes(question: str, source: str, answer: str, target: str) -> list[str]:
    return [contrast.axis for contrast in contrasts(question, source, answer, target)]


@pytest.mark.parametrize(
    ("question", "answer", "axis"),
    [
        ("The shop is open on Monday.", "The shop is closed on Monday.", "open"),
        ("You must not give the child milk.", "You may give the child milk.", "negation"),
        ("Is the pain in your right arm?", "Is the pain in your left arm?", "side"),
        ("Take the pills after meals.", "Take the pills before meals.", "before"),
        ("Open the valve.", "Do not open the valve.", "negation"),
        ("Come on Tuesday.", "Come on Friday.", "weekday"),
        ("It was in May.", "It was in June.", "month"),
        ("She is my sister.", "He is my brother.", "sex"),
        ("Bring the child.", "Bring the children.", "persons"),
        ("Does she have a fever?", "Do you have a fever?", "person"),
        ("Coffee with sugar.", "Coffee without sugar.", "company"),
        ("Turn the light on.", "Turn the light off.", "switch"),
        ("The dog bites the man.", "The man bites the dog.", "order"),
        ("The guest is here.", "The guests are here.", "form"),
        ("Where does it hurt?", "When does it hurt?", "asked"),
        ("You may drink something.", "You must drink something.", "duty"),
        ("Can you eat?", "Do you want to eat?", "duty"),
        ("Do you take pills?", "Which pills do you take?", "mood"),
        ("Will it hurt?", "Did it hurt?", "tense"),
        ("I had a fever.", "I have a fever.", "tense"),
        ("I need the doctor.", "I like the doctor.", "exchanged"),
        ("Take it once.", "Take it now.", "exchanged"),
        ("All children are here.", "Some children are here.", "exchanged"),
    ],
)
def test_opposites_within_a_language(question: str, answer: str, axis: str) -> None:
    assert axis in axes(question, "en", answer, "en")
    assert axes(question, "en", question, "en") == []


@pytest.mark.parametrize(
    ("question", "target", "answer", "axis"),
    [
        ("Please open the door.", "de", "Bitte mach die Tür zu.", "open"),
        ("I am not hungry.", "de", "Ich habe Hunger.", "negation"),
        ("Turn right at the traffic light.", "fr", "Tournez à gauche au feu.", "side"),
        ("Don't touch that!", "tr", "Ona dokun!", "negation"),
        ("The water is hot.", "zh", "水是冷的。", "temperature"),
        ("We are closed on Sundays.", "es", "Cerramos los lunes.", "weekday"),
        ("A woman is running.", "ar", "رجل يركض.", "sex"),
        ("Take it before the meal.", "cs", "Vezměte si to po jídle.", "before"),
        ("It is not far.", "uk", "Це далеко.", "negation"),
        ("The glass is full.", "hi", "गिलास ख़ाली है।", "content"),
        ("This is too expensive.", "pt", "Isto é muito barato.", "price"),
        ("That is true.", "pt", "Isso não é verdade.", "negation"),
        ("This ticket is valid.", "ar", "هذه التذكرة غير صالحة.", "negation"),
        ("This ticket is valid.", "uk", "Цей квиток недійсний.", "negation"),
        ("A coffee with sugar, please.", "zh", "请来一杯不加糖的咖啡。", "company"),
        ("The test is positive.", "de", "Der Test ist negativ.", "result"),
        ("Take this tablet in the evening.", "es", "Tome esta pastilla por la mañana.", "daytime"),
        ("Take this tablet in the evening.", "pt", "Tome este comprimido de manhã.", "daytime"),
        ("Your blood pressure is too low.", "hi", "आपका रक्तचाप बहुत ज़्यादा है।", "level"),
        ("The train leaves from platform four.", "cs", "Vlak odjíždí z pátého nástupiště.", "number"),
        ("It is in front of the church.", "uk", "Це за церквою.", "front"),
        ("It is behind the church.", "zh", "在教堂前面。", "front"),
        ("Turn the machine on.", "tr", "Makineyi kapatın.", "switch"),
        ("You will find it upstairs.", "ar", "ستجده في الطابق السفلي.", "height"),
        ("Is he in pain?", "fr", "Avez-vous mal ?", "person"),
        ("Do you have a fever?", "de", "Hat er Fieber?", "person"),
        ("Do you have a fever?", "uk", "Вона має температуру?", "person"),
        ("Are you the mother of the child?", "ar", "هل أنت أبو الطفل؟", "who"),
    ],
)
def test_opposites_across_languages(question: str, target: str, answer: str, axis: str) -> None:
    assert axis in axes(question, "en", answer, target)
    assert axis in axes(answer, target, question, "en")


@pytest.mark.parametrize(
    ("text", "language", "axis"),
    [
        ("Fire department", "en", "travel"),
        ("Wie lautet die Adresse", "de", "noise"),
        ("Montrez la montagne", "fr", "height"),
        ("Hay nueve personas", "es", "age"),
        ("O comprimido longe da geladeira", "pt", "trade"),
        ("Gitar çalıyor", "tr", "travel"),
        ("Siz", "tr", "company"),
        ("Zavolejte kvůli zavazadlům", "cs", "open"),
        ("Levnější jízdenka", "cs", "side"),
        ("Біля лікарні", "uk", "who"),
        ("المنزل فقط", "ar", "who"),
        ("المنزل فقط", "ar", "trend"),
        ("تقريبا", "ar", "distance"),
        ("वे जश्न मना रहे हैं", "hi", "negation"),
        ("吉他在哪里？", "zh", "sex"),
    ],
)
def test_what_is_spelled_like_a_word_of_an_axis_says_nothing_on_it(
    text: str, language: str, axis: str
) -> None:
    assert axis not in said(text, language)


@pytest.mark.parametrize(
    ("question", "answer", "axis"),
    [
        ("Good night!", "Good evening!", "exchanged"),
        ("No problem.", "Sure.", "exchanged"),
        ("A man and a woman dance.", "A man dances.", "added"),
        ("Take the tablets.", "Take two of the tablets.", "added"),
        ("Walk from the door.", "Walk to the door.", "exchanged"),
        ("We eat fish.", "Today we eat fish at home.", "added"),
    ],
)
def test_other_words_are_no_opposites(question: str, answer: str, axis: str) -> None:
    assert axes(question, "en", answer, "en") == [axis]


REWORDINGS = [
    line.split("\t")
    for line in Path(__file__).with_name("rewordings.tsv").read_text("utf-8").splitlines()[1:]
]


# Kinds of rows that mean the same: in other words, politely, of a woman or a man, as people type or say it.
SAME = {"same", "order same", "polite", "own sex", "marks", "short", "greeting", "spoken"}


@pytest.mark.parametrize("language", sorted({row[0] for row in REWORDINGS}))
def test_exchanged_and_added_words_say_something_else(language: str) -> None:
    """And what is said of others, or is another word but for a mark; what means the same does not."""
    rows = [row for row in REWORDINGS if row[0] == language]
    exchanged = [kind for _, kind, _, _ in rows if kind not in SAME and "other" not in kind]
    assert len(exchanged) >= 10 * (language in LANGUAGES)
    for _, kind, approved, asked in rows:
        for one, other in ((approved, asked), (asked, approved)):
            found = axes(one, language, other, language)
            assert bool(found) == (kind not in SAME), (one, other, found)


@pytest.mark.parametrize(
    ("target", "same", "other"),
    [
        ("de", "Der Arzt sucht den Patienten.", "Der Patient sucht den Arzt."),
        ("tr", "Doktor hastayı arıyor.", "Hasta doktoru arıyor."),
        ("zh", "医生在找病人。", "病人在找医生。"),
        ("ar", "الطبيب يبحث عن المريض.", "المريض يبحث عن الطبيب."),
        ("cs", "Lékař hledá pacienta.", "Pacient hledá lékaře."),
    ],
)
def test_who_does_something_to_whom_is_seen_in_another_language(target: str, same: str, other: str) -> None:
    question = "The doctor is looking for the patient."
    assert axes(question, "en", same, target) == []
    assert axes(question, "en", other, target) == ["order"]


@pytest.mark.parametrize(
    ("statement", "language", "question"),
    [
        ("The child has a fever.", "en", "Does your child have a fever?"),
        ("You can go home.", "en", "Can you go home?"),
        ("the child has a fever", "en", "has the child a fever"),
        ("Das Kind hat Fieber.", "de", "Hat das Kind Fieber?"),
        ("ich bin schwanger", "de", "bin ich schwanger"),
        ("Çocuğun ateşi var.", "tr", "Çocuğun ateşi var mı?"),
        ("çocuğun ateşi var", "tr", "çocuğun ateşi var mı"),
        ("孩子发烧了。", "zh", "孩子发烧了吗？"),
        ("الطفل عنده حمى.", "ar", "هل الطفل عنده حمى؟"),
        ("Máte horečku.", "cs", "Máte horečku?"),
        ("बच्चे को बुखार है।", "hi", "क्या बच्चे को बुखार है?"),
        ("Πονάει.", "el", "Πονάει;"),
        ("Il bambino ha la febbre.", "it", "Il bambino ha la febbre?"),
    ],
)
def test_a_statement_is_no_question(statement: str, language: str, question: str) -> None:
    assert "mood" in axes(statement, language, question, language)
    assert "mood" in axes(statement, language, "Does the child have a fever?", "en")
    assert "mood" not in axes(question, language, "Does the child have a fever?", "en")


@pytest.mark.parametrize(
    ("one", "language", "other"),
    [
        ("where does it hurt", "en", "Where does it hurt?"),
        ("Where does it hurt.", "en", "Where does it hurt?"),
        ("Can I have water?", "en", "I would like water."),
        ("Please open the door.", "en", "Can you open the door?"),
        ("Tell me where it hurts.", "en", "Where does it hurt?"),
        ("It's cold, isn't it?", "en", "It's cold."),
        ("Kapıyı açar mısınız?", "tr", "Kapıyı açın."),
        ("Pourriez-vous ouvrir la porte ?", "fr", "Ouvrez la porte."),
        ("Könnten Sie die Tür öffnen?", "de", "Öffnen Sie bitte die Tür."),
        ("能给我水吗？", "zh", "我要水。"),
        ("vai piovere", "it", "Vai piovere?"),
        ("Fever? The child is asleep.", "en", "The child is asleep."),
    ],
)
def test_a_request_is_either(one: str, language: str, other: str) -> None:
    """And so is what no mark and no word tells."""
    assert "mood" not in axes(one, language, other, language)
    assert "mood" not in axes(other, language, one, language)


@pytest.mark.parametrize(
    ("language", "statement", "request_"),
    [
        ("de", "Ich schwimme.", "Ich möchte schwimmen."),
        ("fr", "Je nage.", "Je voudrais nager."),
        ("es", "Yo nado.", "Quiero nadar."),
    ],
)
def test_whether_one_can_is_asked_of_what_is_stated(language: str, statement: str, request_: str) -> None:
    question = "Can I swim?"
    assert "mood" in axes(question, "en", statement, language)
    assert "mood" not in axes(question, "en", request_, language)


@pytest.mark.parametrize(
    ("language", "closed", "open"),
    [
        ("de", "Nehmen Sie Tabletten?", "Welche Tabletten nehmen Sie?"),
        ("fr", "Est-ce que vous prenez des comprimés ?", "Quels comprimés prenez-vous ?"),
        ("tr", "Hap alıyor musunuz?", "Hangi hapları alıyorsunuz?"),
        ("zh", "您吃药吗？", "您吃什么药？"),
        ("ar", "هل تتناول أدوية؟", "ما الأدوية التي تتناولها؟"),
    ],
)
def test_whether_is_no_which(language: str, closed: str, open: str) -> None:
    assert "mood" in axes(closed, language, open, language)
    assert "mood" not in axes(closed, language, "Which pills do you take?", "en")


def test_the_words_that_differ_are_named() -> None:
    found = list(contrasts("The shop is open.", "en", "Das Geschäft ist geschlossen.", "de"))
    assert [(contrast.question, contrast.answer) for contrast in found] == [(("open",), ("geschlossen",))]


def test_nothing_is_known_of_other_languages() -> None:
    assert axes("It is not far.", "en", "Ez urrun da.", "eu") == []


def test_of_other_languages_exchanged_words_are_known_and_added_ones_are_not() -> None:
    assert axes("Vorrei un caffè.", "it", "Vorrei un gelato.", "it") == ["exchanged"]
    assert axes("Vorrei un caffè.", "it", "Vorrei un caffè, per favore.", "it") == []


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_translations_that_somebody_wrote_hardly_ever_contrast(language: str) -> None:
    english, other = (
        (EVERYDAY / f"{code}.txt").read_text("utf-8").splitlines()[::3] for code in ("en", language)
    )
    wrong = sum(
        any(contrasts(*pair))
        for pair in ((x, "en", y, language) for x, y in zip(english, other, strict=True))
    )
    assert wrong <= MOST_FALSE * len(english)


# Languages.
OF_SOME = {AFFIRMATIVE, POLITE, POLITE_FORMS, POSTPOSITIONS, PREFIX, CHOICE, EVENT_FIRST, SEPARABLE}


@pytest.mark.parametrize("language", LANGUAGES)
def test_axes_that_english_has_have_its_values(language: str) -> None:
    folder = Path(lexicon.__file__).parent
    english, other = (
        tomllib.loads((folder / f"{code}.toml").read_text("utf-8")) for code in ("en", language)
    )
    for axis, values in other.items():
        assert axis in english or isinstance(values, dict) or axis in OF_SOME
        shared = isinstance(values, dict) and axis in english and axis not in WITHIN
        assert not shared or values.keys() <= english[axis].keys()


@given(st.sampled_from(LANGUAGES), st.sampled_from(LANGUAGES), st.text(max_size=60), st.text(max_size=60))
def test_contrast_goes_both_ways(source: str, target: str, question: str, answer: str) -> None:
    there = list(contrasts(question, source, answer, target))
    back = list(contrasts(answer, target, question, source))
    assert {(c.axis, c.question, c.answer) for c in there if c.axis not in ("order", "form")} == {
        (c.axis, c.answer, c.question) for c in back if c.axis != "order"
    }
    assert [c.axis for c in there] == [c.axis for c in back]


CONTRASTS = EVERYDAY.parent / "contrasts"
LEAST_FOUND = 0.99  # of the opposites that were written for the suite, in a language


@pytest.mark.parametrize("language", LANGUAGES)
def test_opposites_of_the_suite_are_found_within_a_language(language: str) -> None:
    rows = [line.split("\t") for line in (CONTRASTS / f"{language}.tsv").read_text("utf-8").splitlines()[1:]]
    found = 0
    for _, sentence, opposite in rows:
        numbers = (numbers_in(text, words(text, language), language) for text in (sentence, opposite))
        found += any(contrasts(sentence, language, opposite, language)) or contradict(*numbers)
    assert found >= LEAST_FOUND * len(rows)


MEANINGS = Meanings(
    "qaa",
    {"ne": 90, "pordo": 20, "fermu": 10, "malfermu": 8, "lundo": 5, "mardo": 4, "povas": 3},
    {
        "ne": {"not": 0.5, "don't": 0.4},
        "fermu": {"close": 0.5, "door": 0.2},
        "malfermu": {"open": 0.9},
        "lundo": {"monday": 0.9},
        "mardo": {"tuesday": 0.1},
        "povas": {"can": 0.5, "can't": 0.5},
    },
)


def axes_by_words(question: str, answer: str, meanings: Meanings = MEANINGS) -> list[str]:
    both_ways = [
        [contrast.axis for contrast in contrasts(*pair, meanings=lambda code: {"qaa": meanings}.get(code))]
        for pair in ((question, "qaa", answer, "en"), (answer, "en", question, "qaa"))
    ]
    assert both_ways[0] == both_ways[1]
    return both_ways[0]


@pytest.mark.parametrize(
    ("question", "answer", "found"),
    [
        ("Malfermu la pordo.", "Please close the door.", ["open"]),
        ("Fermu la pordo.", "Please close the door.", []),
        ("Ne fermu la pordo.", "Please close the door.", ["negation"]),
        ("Fermu la pordo.", "Do not close the door.", ["negation"]),
        ("Lundo", "Tuesday", ["weekday"]),
        ("Mardo", "Monday", []),  # too few of its occurrences mean that
        ("Vi povas iri.", "You can go.", []),  # as many of its translations negate as do not
    ],
)
def test_what_words_mean_in_english_is_known_of_any_language(
    question: str, answer: str, found: list[str]
) -> None:
    assert axes_by_words(question, answer) == found


def test_negation_is_not_compared_where_no_frequent_word_negates() -> None:
    rarely = Meanings("qaa", {**MEANINGS.counts, "la": 100_000}, MEANINGS.translations)
    assert axes_by_words("Fermu la pordo.", "Do not close the door.", rarely) == []
    assert axes_by_words("Malfermu la pordo.", "Do not close the door.", rarely) == ["open"]


PHRASES = (EVERYDAY.parent / "phrases" / "phrases.tsv").read_text("utf-8").splitlines()
MOST_FALSE_BY_WORDS = 0.03


@pytest.mark.parametrize("language", ["it", "nl", "pl", "ro", "ru", "fa", "ur", "vi", "ja", "ko"])
def test_what_words_mean_hardly_ever_makes_translations_contrast(
    language: str, open_encoder: TextEncoder
) -> None:
    columns = PHRASES[0].split("\t")
    rows = [dict(zip(columns, line.split("\t"), strict=True)) for line in PHRASES[1:]]
    found = [
        [*contrasts(row[language], language, row["en"], "en", meanings=open_encoder.meanings)] for row in rows
    ]
    assert sum(
        any(contrast.axis != "mood" for contrast in row) for row in found
    ) <= MOST_FALSE_BY_WORDS * len(rows)


def test_every_table_is_of_a_language_and_is_read_whole() -> None:
    tables = tomllib.loads(Path(speakers.__file__).with_suffix(".toml").read_text("utf-8"))
    for code, table in tables.items():
        assert language(code).name != code
        assert table.keys() <= {*speakers.Speakers._fields}
        found = speakers.speakers_of(code)
        assert found is not None
        assert all(len(pair) == 2 and pair[0] != pair[1] for pair in found.forms)
    assert speakers.speakers_of("tr") is None
