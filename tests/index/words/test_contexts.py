"""Words stand where the sentences that have them stand."""

from pathlib import Path

import numpy as np

from index.answers.sentence_features import Features
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.text.normalisation import words
from index.words import contexts
from tests.bundles import make_corpus

TEXTS = ["Ice cream, ice!", "a dog", "", "Cream ice cream dog.", "a a cat"]
THERE = {"dog": [1, 3], "ice": [0, 3], "a": [1, 4], "never": []}


def test_a_word_counts_once_in_a_text() -> None:
    own, texts = np.eye(4, 5, dtype=np.float32), np.eye(5, dtype=np.float32)
    found = Features.of([TEXTS], list(THERE), "en").words_of(np.arange(len(TEXTS)))
    for row, rows in enumerate(THERE.values()):
        direction = texts[rows].mean(axis=0) - texts.mean(axis=0) if rows else 0 * texts[0]
        direction /= max(np.linalg.norm(direction), 1e-12)
        wanted = contexts.OWN_WEIGHT * own[row] + len(rows) * direction
        mixed = contexts.in_context(own, found, texts)[row]
        np.testing.assert_allclose(mixed, wanted / np.linalg.norm(wanted), atol=1e-6)


def test_an_index_has_its_words_in_their_contexts(bundle: Bundle, tmp_path: Path) -> None:
    """The formula of `in_context`, worked out a word at a time from what is published."""
    build_index(bundle, make_corpus(tmp_path, ["en", "de"], 300), tmp_path / "index")
    translator = Translator.open(tmp_path / "index")
    for code in ("en", "de"):
        index, sentences = translator.word_indexes[code], translator.sentence_indexes[code]
        vectors = sentences.vectors.reconstruct(range(len(sentences)))
        texts = [set(words(text, code)) for text in sentences.texts(0, len(sentences)).to_pylist()]
        for row, word in enumerate(index.spellings):
            there = vectors[[word in text for text in texts]][: contexts.CONTEXTS_PER_WORD]
            direction = there.mean(axis=0) - vectors.mean(axis=0) if len(there) else 0 * vectors[0]
            direction /= max(np.linalg.norm(direction), 1e-12)
            own = translator.encoder.word_vectors([word], code)[0]
            wanted = (contexts.OWN_WEIGHT if len(there) else 1) * own + len(there) * direction
            found = index.vectors.reconstruct([row])[0]
            np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted), atol=1e-4)
