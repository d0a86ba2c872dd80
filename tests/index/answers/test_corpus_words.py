"""Words that no sentence of an index has are read as those that it has for them."""

from pathlib import Path

import pytest

from index.answers.corpus_words import CorpusWords
from index.answers.sentence_features import Features
from index.answers.sentence_index import SentenceIndex
from index.answers.word_index import WordIndex
from index.encoder.text_encoder import TextEncoder
from index.storage.versions import open_version
from tests.files import index_of_table

SENTENCES = [
    ("en", "sw"),
    ("Put the medicine in the refrigerator.", "Weka dawa kwenye friji."),
    ("The man is unconscious.", "Mwanamume amezimia."),
    ("Call the ambulance at once.", "Ita gari la wagonjwa mara moja."),
    ("The woman begins on Monday.", "Mwanamke anaanza Jumatatu."),
    ("Where do you live?", "Unaishi wapi?"),
]


@pytest.fixture(scope="module")
def words(open_encoder: TextEncoder, few_probes: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of_table(open_encoder.bundle, tmp_path_factory.mktemp("words") / "table.tsv", SENTENCES)


def corpus_words(index: Path, language: str, encoder: TextEncoder) -> CorpusWords:
    folder, manifest = open_version(index)
    features = SentenceIndex.open(folder, language, manifest).features
    return CorpusWords(WordIndex.open(folder, language, manifest, encoder), features)


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Put the medicine in the fridge.", "put the medicine in the refrigerator"),
        ("Is the medicine in the fridge?", "is the medicine in the refrigerator?"),
        ("The woman starts on Monday.", "the woman begins on monday"),
        ("Put the medicine in the refrigerator.", "Put the medicine in the refrigerator."),
        ("What is your address?", "where do you live?"),
        ("Call the giraffe at once.", "Call the giraffe at once."),
        ("", ""),
    ],
)
def test_a_word_is_read_as_the_corpus_has_it(
    words: Path, open_encoder: TextEncoder, asked: str, read: str
) -> None:
    """Others stay as they are, and so does a text of none but these."""
    assert corpus_words(words, "en", open_encoder).read(asked) == read


def test_a_language_without_a_file_is_read_as_it_is(words: Path, open_encoder: TextEncoder) -> None:
    assert (
        corpus_words(words, "sw", open_encoder).read("Weka dawa kwenye jokofu.") == "Weka dawa kwenye jokofu."
    )


def test_a_phrase_may_be_longer_than_the_corpus(open_encoder: TextEncoder) -> None:
    vocabulary = ["call", "the", "doctor"]
    features = Features.of([["Call the doctor."]], vocabulary, "en")
    words = CorpusWords(WordIndex("en", open_encoder, None, vocabulary, [1, 1, 1]), features)
    asked = "at the end of the hallway"
    assert words.read(asked) == asked
