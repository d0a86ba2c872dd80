"""Words stand where the sentences that have them stand."""

from pathlib import Path

import numpy as np

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.bundle import Bundle
from index.text.normalisation import words
from index.words import contexts
from tests.bundles import make_corpus


def test_an_index_has_its_words_in_their_contexts(bundle: Bundle, tmp_path: Path) -> None:
    """The formula of `in_context`, worked out a word at a time from what is published."""
    files = make_corpus(tmp_path, ["en", "de"], 300)
    with files["en"].open("a", encoding="utf-8") as file:
        file.write("Ice cream, ice!\nCream ice cream dog.\nA a cat.\n")  # a word counts once in a text
    build_index(bundle, files, tmp_path / "index")
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
