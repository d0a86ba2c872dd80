"""Whole words as evidence for mining: they bring unlike languages together."""

import numpy as np
import pytest
from tokenizers import Tokenizer

from index.encoder.vectors import unit
from training.data.captions import Caption, CaptionedPictures
from training.data.settings import TokenizerSettings
from training.data.tokens import tokenize, train_tokenizer
from training.data.training_data import TrainingData, sentences_of
from training.loop.mining.word_evidence import WordEvidence, sentence_vectors

TOPICS, WORDS_EACH, SENTENCES, WIDTH = 20, 8, 3000, 16


def tokenizer_of(texts: list[str], vocabulary: int) -> Tokenizer:
    tokenizer = train_tokenizer(
        texts, TokenizerSettings(vocabulary=vocabulary), sequence_token=False, max_tokens=64
    )
    tokenizer.no_padding()
    return tokenizer


def language(prefix: str, seed: int) -> list[str]:
    """Sentences of a few topics; a word is spelled unlike its translation."""
    draw = np.random.default_rng(seed)
    names = ["".join(draw.choice(list(prefix), 7)) for _ in range(TOPICS * WORDS_EACH)]
    shared = np.random.default_rng(seed + 100)
    sentences = []
    for _ in range(SENTENCES):
        topics = shared.choice(TOPICS, 2, replace=False)
        # Words of a topic are not equally frequent.
        words = np.minimum(shared.geometric(0.35, 6) - 1, WORDS_EACH - 1)
        sentences.append(
            " ".join(
                names[topic * WORDS_EACH + word]
                for topic, word in zip(np.repeat(topics, 3), words, strict=True)
            )
        )
    return [*sentences, *names]


@pytest.fixture(scope="module")
def data() -> TrainingData:
    """Two languages with texts of the same kind, and pictures of half of their words."""
    texts = {"xx": language("abcdefgh", 1), "en": language("qrstuvwx", 2)}
    names = {code: lines[SENTENCES:] for code, lines in texts.items()}
    texts = {code: lines[:SENTENCES] for code, lines in texts.items()}
    shown = range(0, TOPICS * WORDS_EACH, 2)  # every second word has a picture
    captions = [Caption(i, code, names[code][i]) for code in texts for i in shown]
    pictures = CaptionedPictures(tuple(f"p/{i}" for i in range(TOPICS * WORDS_EACH)), tuple(captions))
    tokenizer = tokenizer_of([line for lines in texts.values() for line in lines], 600)
    tokens = tokenize(tokenizer, [caption.text for caption in captions])
    space = unit(np.random.default_rng(0).standard_normal((TOPICS * WORDS_EACH, WIDTH)))
    return TrainingData(
        languages=tuple(texts),
        seed=0,
        tokenizer=tokenizer,
        captions=pictures,
        tokens=tokens,
        texts=texts,
        sentences=sentences_of(tokenizer, texts, pictures, tokens),
        picture_space=lambda: space,
    )


def test_words_without_a_picture_are_found_by_the_words_beside_them(data: TrainingData) -> None:
    evidence = WordEvidence(data, "en")
    draw = np.random.default_rng(0)
    tables = evidence.tables(lambda words: unit(draw.standard_normal((len(words), WIDTH))))  # knows nothing
    places = {
        code: {
            data.tokenizer.decode(tokens.tolist()).replace("▁", "").replace(" ", ""): row
            for row, tokens in enumerate(evidence.lexicons[code].tokens)
        }
        for code in tables
    }
    names = {
        code: language(letters, seed)[SENTENCES:]
        for code, letters, seed in (("xx", "abcdefgh", 1), ("en", "qrstuvwx", 2))
    }
    unseen = [
        (places["xx"][first], places["en"][second])
        for first, second in list(zip(names["xx"], names["en"], strict=True))[1::2]
        if first in places["xx"] and second in places["en"]
    ]
    first, second = (unit(tables[code][1]) for code in ("xx", "en"))
    rows, expected = np.asarray(unseen).T
    topics = {
        place: names["en"].index(name) // WORDS_EACH
        for name, place in places["en"].items()
        if name in names["en"]
    }
    nearest = (first[rows] @ second[:-1].T).argmax(axis=1)
    right = np.mean([topics.get(int(a)) == topics[int(b)] for a, b in zip(nearest, expected, strict=True)])
    assert right > 0.8
    assert not tables["xx"][0][rows].any(), "without a picture there is no vector of one"


def test_decoys_do_not_move_the_sentences() -> None:
    draw = np.random.default_rng(0)
    encoded = unit(draw.standard_normal((30, 8)))
    rows = [draw.integers(0, 21, 5) for _ in range(30)]
    tables = (
        draw.standard_normal((21, 4)).astype(np.float32),
        draw.standard_normal((21, 6)).astype(np.float32),
    )
    joined = sentence_vectors(encoded, rows, tables, 20)
    assert joined.shape == (30, 18)
    np.testing.assert_allclose(joined[:20], sentence_vectors(encoded[:20], rows[:20], tables, 20), atol=1e-6)
