"""Evidence: translations have words for each other, whatever they are asked together with."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from index.answers.answer import Differs
from index.answers.candidates import Candidates
from index.answers.evidence import Questions, WordPairs, add_evidence, as_written
from index.answers.sentence_index import SentenceIndex
from index.answers.translator import Translator
from index.answers.word_index import WordIndex

TEXTS = ["A black dog runs on the snow.", "A white cat sleeps in the water.", "The small horse jumps."]
COVERAGE = ("covered", "lacking")


@pytest.fixture(scope="module")
def words(index_dir: Path, translator: Translator) -> Mapping[str, WordIndex]:
    folder = index_dir / "versions" / translator.version
    return {
        code: WordIndex.open(folder, code, translator.manifest, translator.encoder) for code in ("en", "de")
    }


def german(translator: Translator) -> SentenceIndex:
    return translator.sentence_indexes["de"]


def row_of(translator: Translator, text: str) -> int:
    """The row of the answer to a text whose score is highest."""
    answer = max(translator.sentences([text], "en", "de", 20)[0], key=lambda answer: answer.score)
    return next(
        row for row in range(len(german(translator))) if german(translator).sentence(row).id == answer.id
    )


def asked(translator: Translator, texts: Sequence[str], source: str = "en") -> Questions:
    return translator._asked({(source, text): None for text in texts}, nullcontext)[source].of(list(texts))


def evidence(
    translator: Translator,
    words: Mapping[str, WordIndex],
    texts: Sequence[str],
    rows: Sequence[Sequence[int]],
    source: str = "en",
) -> tuple[Candidates, WordPairs]:
    """The columns of given rows, as many for each text."""
    questions, index = asked(translator, texts, source), german(translator)
    flat = np.array([row for of_text in rows for row in of_text], np.int64)
    numbers = np.repeat(np.arange(len(rows)), [len(of_text) for of_text in rows])
    table = Candidates(len(texts), {"question": numbers, "row": flat}, np.zeros(len(texts), np.float32))
    own = words.get(source) or words["de"].without_index(source)
    pairs = WordPairs(questions, own, words["de"], numbers, index.features.words_of(flat))
    table = add_evidence(table, questions, index.features, pairs, {"en": 3.0, "de": 3.2}, "de")
    return table, pairs


def test_an_answer_covers_its_question_more_than_others_do(
    translator: Translator, words: Mapping[str, WordIndex]
) -> None:
    for text in TEXTS:
        best = row_of(translator, text)
        others = [row for row in range(20) if row != best]
        table, _ = evidence(translator, words, [text], [[best, *others]])
        assert (table["covered"][0] >= table["covered"][1:] - 1e-6).mean() > 0.9
        assert (table["lacking"][0] <= table["lacking"][1:] + 1e-6).mean() > 0.9


def test_a_text_without_words_covers_nothing(translator: Translator, words: Mapping[str, WordIndex]) -> None:
    table, _ = evidence(translator, words, ["???", TEXTS[0]], [[0, 1], [0]])
    for name in COVERAGE:
        assert not table[name][:2].any()
    assert table["covered"][2] != 0


def test_rare_words_weigh_more(translator: Translator, words: Mapping[str, WordIndex]) -> None:
    """Of two words that the answer has not, the one that the index has never seen takes away more."""
    row = row_of(translator, TEXTS[0])
    table, _ = evidence(translator, words, [TEXTS[0], f"{TEXTS[0]} zzzz"], [[row], [row]])
    whole, strange = table["covered"]
    assert strange < whole


def test_the_word_that_is_not_said_is_what_lacks(
    translator: Translator, words: Mapping[str, WordIndex]
) -> None:
    """The question gains a word that the index can translate, and its answer does not."""
    row = row_of(translator, TEXTS[0])
    table, _ = evidence(translator, words, [TEXTS[0], f"{TEXTS[0]} woman"], [[row], [row]])
    assert table["lacking"][1] > table["lacking"][0] + 0.1


def test_what_cannot_be_computed_is_not_there(translator: Translator, words: Mapping[str, WordIndex]) -> None:
    table, _ = evidence(translator, words, ["Bonjour."], [[0]], source="pt")
    assert not {*COVERAGE, "length_difference"} & table.columns.keys()


def differs(translator: Translator, words: Mapping[str, WordIndex], text: str, answer: str) -> Differs:
    index = german(translator)
    row = next(row for row in range(len(index)) if index.text(row) == answer)
    _, pairs = evidence(translator, words, [text], [[row]])
    (found,) = pairs.differences(np.zeros(1, np.int64), index.vectors.reconstruct([row]), [answer])
    return found


def test_a_translation_does_not_differ(translator: Translator, words: Mapping[str, WordIndex]) -> None:
    text = "A small dog runs on the beach."
    answer = translator.sentences([text], "en", "de")[0][0]
    assert differs(translator, words, text, answer.text) == answer.differs == Differs()


def test_other_details_are_named_as_they_are_written(
    translator: Translator, words: Mapping[str, WordIndex]
) -> None:
    answer = "Der katze ist weiß und schläft: schnee."
    found = differs(translator, words, "A white cat sleeps in the WATER.", answer)
    assert found == Differs(question=("WATER",), answer=("schnee",))


def test_a_word_that_the_index_does_not_know_is_compared_by_its_tokens(
    translator: Translator, words: Mapping[str, WordIndex]
) -> None:
    text = "A small dog runs on the beach."
    answer = translator.sentences([text], "en", "de")[0][0].text
    found = differs(translator, words, f"{text[:-1]} zzzz.", answer)
    assert set(found.question) <= {"zzzz"}
    assert found.answer == ()


def test_words_are_spelled_as_in_the_text() -> None:
    """In its order, and also after a letter that Python lower-cases to two."""
    assert as_written(["buna", "inanamıyorum"], "İnanamıyorum Buna!") == ("İnanamıyorum", "Buna")
    assert as_written(["elsewhere", "here"], "Here.") == ("Here",)
    assert as_written(["wann", "seit wann", "seit"], "Seit wann haben Sie das?") == ("Seit wann",)
    assert as_written(["in", "he", "?"], "INDIA: she and He live In Asia?") == ("He", "In", "?")
