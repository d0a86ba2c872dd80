"""Words of a language without a corpus are found by the pictograms that they look like."""

import numpy as np
import pytest

from index.answers.pictured_words import OWN_WEIGHT, TEMPERATURE, pictured_candidates
from index.answers.word_index import WordIndex
from index.confidence.models import PICTURED_WORD
from index.encoder.pictures import Pictograms
from index.encoder.text_encoder import TextEncoder
from index.vectors.faiss import FaissIndex

# Some that are spelled like the Swahili ones, and what these mean.
ENGLISH = ["dog", "fish", "bird", "water", "samba", "might", "made", "nude", "house", "tree", "book", "woman"]
SWAHILI = {"mbwa": "dog", "samaki": "fish", "ndege": "bird", "maji": "water"}


def test_words_are_found_by_what_they_look_like(open_encoder: TextEncoder) -> None:
    pictograms = Pictograms.open(open_encoder.bundle)
    assert pictograms is not None
    vectors = open_encoder.word_vectors(ENGLISH, "en")
    english = WordIndex("en", open_encoder, FaissIndex.of(vectors), ENGLISH, [1] * len(ENGLISH))
    swahili = WordIndex("sw", open_encoder)
    table = pictured_candidates([*SWAHILI, "qqxq"], swahili, english, pictograms.vectors, 3)
    first = [table["row"][places[0]] for places in table.by_question()]
    assert [english.text(row) for row in first[: len(SWAHILI)]] == list(SWAHILI.values())
    assert table["learned"][[places[0] for places in table.by_question()]].tolist() == [1, 1, 1, 1, 0]
    sure = PICTURED_WORD.probability(table.columns)
    assert sure[0] > 0.5 > sure[table.by_question()[-1][0]]

    question, answer = open_encoder.word_vectors(["mbwa"], "sw")[0], vectors[0]
    likely = [np.exp(pictograms.vectors @ vector / TEMPERATURE) for vector in (question, answer)]
    shared = sum((likely[0] / likely[0].sum()) * (likely[1] / likely[1].sum()))
    own = 2 * question @ answer - np.sort(pictograms.vectors @ answer)[-10:].mean()
    assert table["score"][0] == pytest.approx(TEMPERATURE * np.log(shared) + OWN_WEIGHT * own, abs=1e-4)
    assert table["csls"][0] == pytest.approx(own, abs=1e-4)


def test_an_index_without_words_answers_none(open_encoder: TextEncoder) -> None:
    empty = WordIndex("en", open_encoder, FaissIndex.of(open_encoder.word_vectors([], "en")))
    table = pictured_candidates(["mbwa"], WordIndex("sw", open_encoder), empty, np.eye(2, 256, dtype="f4"), 3)
    assert table.by_question() == [[]]
