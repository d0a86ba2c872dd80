"""The guard: what says something else than the question is near at best, with the words marked."""

from collections.abc import Sequence

import pytest

from index.answers.answer import Answer, Differs
from index.answers.guard import with_contrasts
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.confidence import MIN_CONFIDENCE
from index.encoder.text_encoder import TextEncoder
from index.storage.options import Cleaning
from index.text.contrasts.contrast import Contrast
from tests.files import index_of_table, write_lines

PHRASES = {
    "The shop is closed on Monday.": "Das Geschäft ist am Montag geschlossen.",
    "You may give the child milk.": "Sie dürfen dem Kind Milch geben.",
    "Is the pain in your left arm?": "Sind die Schmerzen im linken Arm?",
    "Take one tablet before meals.": "Nehmen Sie eine Tablette vor dem Essen.",
    "Do not open the valve.": "Das Ventil nicht öffnen.",
    "Press the button twice.": "Drücken Sie den Knopf zweimal.",
    "Quiet hours are until sunset.": "Die Ruhezeit dauert bis Sonnenuntergang.",
    "Give the baby some tea with honey.": "Geben Sie dem Baby etwas Tee mit Honig.",
    "I am at home.": "Ich bin zu Hause.",
    "Fire!": "Feuer!",
    "Please wait here for ten minutes.": "Bitte warten Sie hier zehn Minuten.",
    "Does your child have a fever?": "Hat Ihr Kind Fieber?",
}
OPPOSITES = {
    "The shop is open on Monday.": "The shop is closed on Monday.",
    "You must not give the child milk.": "You may give the child milk.",
    "Is the pain in your right arm?": "Is the pain in your left arm?",
    "Take one tablet after meals.": "Take one tablet before meals.",
    "Open the valve.": "Do not open the valve.",
    "Take two tablets before meals.": "Take one tablet before meals.",
    "Please wait here for 20 minutes.": "Please wait here for ten minutes.",
    "Your child has a fever.": "Does your child have a fever?",
    "your child has a fever": "Does your child have a fever?",
}
OTHER_WORDS = {
    "Is the pain in your left shoulder?": "Is the pain in your left arm?",
    "You may give the child honey.": "You may give the child milk.",
    "Quiet hours are until midnight.": "Quiet hours are until sunset.",
    "Give the baby some tea.": "Give the baby some tea with honey.",
    "Press the red button twice.": "Press the button twice.",
}


@pytest.fixture(scope="module")
def translators(
    open_encoder: TextEncoder, few_probes: None, tmp_path_factory: pytest.TempPathFactory
) -> Sequence[Translator]:
    """An index of the phrases that knows which translate which, and one that does not."""
    folder = tmp_path_factory.mktemp("guard")
    plain = {
        "en": write_lines(folder / "en.txt", PHRASES),
        "de": write_lines(folder / "de.txt", PHRASES.values()),
    }
    bundle, cleaning = open_encoder.bundle, Cleaning(("language", "near"))
    path = folder / "aligned" / "aligned.tsv"
    aligned = index_of_table(bundle, path, [("en", "de"), *PHRASES.items()], cleaning=cleaning)
    build_index(bundle, plain, folder / "plain", cleaning=cleaning)
    return [Translator.open(index) for index in (aligned, folder / "plain")]


def answer_of(translator: Translator, question: str, right: str, language: str = "en") -> Answer:
    answers = translator.sentences([question], language, "de", len(PHRASES))[0]
    (found,) = [answer for answer in answers if answer.text == PHRASES[right]]
    return found


@pytest.mark.parametrize(
    ("language", "question", "right"),
    [
        *(("en", question, right) for question, right in OPPOSITES.items()),
        # In languages that nobody listed.
        ("it", "Il negozio è aperto lunedì.", "The shop is closed on Monday."),
        ("nl", "De winkel is open op maandag.", "The shop is closed on Monday."),
        ("pl", "Nie wolno dawać dziecku mleka.", "You may give the child milk."),
        ("ru", "Магазин открыт в понедельник.", "The shop is closed on Monday."),
    ],
)
def test_an_opposite_is_near_at_best(
    translators: Sequence[Translator], language: str, question: str, right: str
) -> None:
    for translator in translators:
        found = answer_of(translator, question, right, language)
        assert found.match == "near"
        assert found.confidence < MIN_CONFIDENCE


@pytest.mark.parametrize("question", OTHER_WORDS)
def test_other_words_are_near_at_best(translators: Sequence[Translator], question: str) -> None:
    """Where the text is aligned, so that question and approved sentence can be compared word by word."""
    found = answer_of(translators[0], question, OTHER_WORDS[question])
    assert found.match == "near"
    assert found.confidence < MIN_CONFIDENCE


def test_a_word_is_no_sentence_unless_it_is_its_only_word(translators: Sequence[Translator]) -> None:
    for translator in translators:
        assert answer_of(translator, "home", "I am at home.").match == "near"
        assert answer_of(translator, "fire", "Fire!").match != "near"


def test_the_words_that_say_it_are_marked(translators: Sequence[Translator]) -> None:
    found = answer_of(translators[0], "The shop is open on Monday.", "The shop is closed on Monday.")
    assert found.differs is not None
    assert found.differs == Differs(question=("open",), answer=("geschlossen",), gloss=("closed",))
    found = answer_of(translators[0], "Your child has a fever.", "Does your child have a fever?")
    assert found.differs is not None
    assert "?" in found.differs.answer
    question = "Quiet hours are until midnight."
    found = answer_of(translators[0], question, OTHER_WORDS[question])
    assert found.differs is not None
    assert "midnight" in found.differs.question


def test_what_was_hardly_likely_is_marked_too(translators: Sequence[Translator]) -> None:
    (found,) = translators[1].sentences(["Is the pain in your right leg?"], "en", "de")[0]
    assert found.text == PHRASES["Is the pain in your left arm?"]
    assert found.differs is not None
    assert "right" in found.differs.question
    assert "linken" in found.differs.answer


def test_words_of_an_aligned_sentence_are_marked_where_the_answer_has_them_whole() -> None:
    found = [Contrast("person", ("you",), ("i",)), Contrast("mood", (), ("?",))]
    differs = with_contrasts(Differs(), found, "You walk.", "Kann ich gehen?", "de")
    assert differs == Differs(question=("You",), answer=("?",))
    asked = with_contrasts(Differs(), [Contrast("mood", ("who", "?"), ())], "Who walks?", "Ich gehe.", "de")
    assert asked.question == ("Who",)  # a mark is no word that an answer lacks
    found = [Contrast("open", ("offen",), ("关",))]
    assert with_contrasts(Differs(), found, "Es ist offen.", "店关了。", "zh").answer == ("关",)


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("Take one tablet before each meal.", "Take one tablet before meals."),
        ("You can give the child milk.", "You may give the child milk."),
        ("Please press the button twice.", "Press the button twice."),
        ("Please wait here for 10 minutes.", "Please wait here for ten minutes."),
        ("does your child have fever", "Does your child have a fever?"),
        ("Does your kid have a temperature?", "Does your child have a fever?"),
        ("On Monday the store is closed.", "The shop is closed on Monday."),
        ("Before meals, take 1 pill.", "Take one tablet before meals."),
    ],
)
def test_what_means_the_same_gets_the_approved_sentence(
    translators: Sequence[Translator], question: str, phrase: str
) -> None:
    """With the approved sentence in the asker's language, so that he sees what will be said."""
    (first, *_) = translators[0].sentences([question], "en", "de", 3)[0]
    assert first.text == PHRASES[phrase]
    assert first.match in ("memory", "paraphrase")
    assert first.original is not None
    assert first.original.text == first.gloss == phrase
    assert first.differs == Differs()
    assert first.confidence >= MIN_CONFIDENCE


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("das ventil nicht oeffnen", "Do not open the valve."),
        ("Die Ruhezeit dauert bis Sonnenuntergang", "Quiet hours are until sunset."),
        ("Sie duerfen dem Kind Milch geben", "You may give the child milk."),
        ("Druecken Sie den Knopf zweimal, danke.", "Press the button twice."),
        ("Guten Tag, hat Ihr Kind Fieber?", "Does your child have a fever?"),
    ],
)
def test_what_is_typed_as_people_type_it_gets_the_approved_sentence(
    translators: Sequence[Translator], question: str, phrase: str
) -> None:
    (first,) = translators[0].sentences([question], "de", "en")[0]
    assert first.text == phrase
    assert first.match in ("memory", "paraphrase")


def test_what_has_nothing_to_do_with_it_gets_no_answer(translators: Sequence[Translator]) -> None:
    for translator in translators:
        (answers,) = translator.sentences(["The quarterly figures were published."], "en", "de", 3)
        assert {answer.match for answer in answers} <= {"near"}


def test_an_answer_says_in_the_askers_language_what_it_says(translators: Sequence[Translator]) -> None:
    said = {target: source for source, target in PHRASES.items()}
    aligned, plain = (translator.sentences(["A dog."], "en", "de", 6)[0] for translator in translators)
    assert [answer.gloss for answer in aligned] == [said[answer.text] for answer in aligned]
    # Where nothing is aligned, the nearest sentence, if it likely says it.
    assert {answer.gloss for answer in plain} <= {None, *said.values()}
    for phrase in PHRASES:
        ((first,),) = translators[1].sentences([phrase], "en", "de")
        assert first.gloss == said[first.text]


def test_a_word_never_becomes_its_opposite(translators: Sequence[Translator]) -> None:
    for translator in translators:
        (answers,) = translator.words(["positive"], "en", "de", 9)
        assert [answer.match for answer in answers if answer.text == "negativ"] == ["near"]
        (answers,) = translator.words(["blood pressure"], "en", "de", 9)  # no word
        assert {answer.match for answer in answers} <= {"near"}
