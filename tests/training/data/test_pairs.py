from pathlib import Path

import numpy as np
import pytest
import torch

from index.errors import DamagedError
from training.data.pairs import PairSupplier, PseudopairSupplier, read_pairs
from training.data.tokens import Padded

CPU = torch.device("cpu")
EVERY = slice(None)
CAPTIONS = np.empty(0, np.int64)
UNUSED_DRAW = np.random.default_rng(0)
# Sentence i of a language is one token: 100 and up in German, 200 in English, 300 in Portuguese.
TOKENS = {
    language: [np.array([start + i], np.int32) for i in range(30)]
    for language, start in (("de", 100), ("en", 200), ("pt", 300))
}


def source(seed: int = 0) -> PseudopairSupplier:
    """Sentence i of German is paired with i of English, the first ten also with i + 1 of Portuguese."""
    made = PseudopairSupplier(TOKENS, seed)
    same = np.arange(30)
    made.pair(
        {
            ("de", "en"): np.stack([same, same], axis=1),
            ("de", "pt"): np.stack([same[:10], same[:10] + 1], axis=1),
        }
    )
    return made


def batch(made: PairSupplier, size: int, epoch: int, number: int, rows: slice = EVERY) -> tuple[Padded, ...]:
    """Some rows of a batch, both sides."""
    made.begin(size, epoch, number)
    part = made.part(CAPTIONS, rows, UNUSED_DRAW, CPU)
    assert part is not None
    return part


def drawn(made: PseudopairSupplier, size: int, number: int) -> list[tuple[int, int]]:
    (one, _), (other, _) = batch(made, size, 3, number)
    return list(zip(one[:, 0].tolist(), other[:, 0].tolist(), strict=True))


def test_a_batch_mixes_languages_those_with_few_pairs_a_little_more_often() -> None:
    made = source()
    steps = [other - one for number in range(200) for one, other in drawn(made, 8, number)]
    assert set(steps) == {100, 201}
    share = steps.count(201) / len(steps)
    expected = 10**0.75 / (10**0.75 + 30**0.75)
    assert share == pytest.approx(expected, abs=0.05)


def with_words() -> PseudopairSupplier:
    """German sentence i has the word i % 2 twice, and 2, which isn't listed; English has three words."""
    made = PseudopairSupplier(TOKENS, 0, rows={"text": {code: range(30) for code in TOKENS}})
    words = {
        "de": [np.array([token], np.int32) for token in (900, 901)],
        "en": [np.array(tokens, np.int32) for tokens in ([910], [911], [912, 913])],
    }
    sentences = {"de": [np.array([i % 2, 2, i % 2]) for i in range(30)], "en": [np.arange(3)] * 30}
    for _ in range(2):  # a resumed run may add them again
        made.add_words(words, sentences)
    return made


def test_words_are_drawn_within_a_sentence_beside_the_pairs_of_sentences() -> None:
    made = with_words()
    assert {code: len(made.tokens[code]) for code in TOKENS} == {"de": 32, "en": 33, "pt": 30}
    assert made.sentences("de") == range(30)
    pairs = np.array([[3, 4], [31, 31], [30, 30], [31, 32]])
    made.pair({("de", "en"): pairs}, {("de", "en"): np.array([3, 0.5, 1.5, 1], np.float32)})
    found = [
        (sentence.tolist(), other.tolist())
        for number in range(200)
        for sentence, other in made.draw(8, 3, number) or []
    ]
    glosses = [(sentence, gloss) for (sentence,), gloss in found if gloss != [204]]
    assert len(glosses) / len(found) == pytest.approx(0.5, abs=0.1), "as a text of its own"
    assert {sentence for sentence, _ in glosses} == set(range(100, 130))
    assert all(gloss == [910, 910] for sentence, gloss in glosses if sentence % 2 == 0)
    longer = [gloss.count(912) for sentence, gloss in glosses if sentence % 2]
    assert np.mean(longer) == pytest.approx(2 * 2 / 3, abs=0.1), "each word has a translation of its own"


def test_a_sentence_without_translations_leaves_a_pair_of_words() -> None:
    made = with_words()
    made.pair({("de", "en"): np.array([[30, 30]])}, {("de", "en"): np.ones(1, np.float32)})
    found = {
        (sentence.tolist()[0] % 2, tuple(gloss.tolist()))
        for number in range(20)
        for sentence, gloss in made.draw(8, 3, number) or []
    }
    assert found == {(0, (910, 910)), (0, (910,))}


def test_nothing_mined_gives_nothing() -> None:
    made = PseudopairSupplier(TOKENS, 0)
    assert made.draw(8, 0, 0) is None
    made.pair({("de", "en"): np.empty((0, 2), np.int64)})
    made.begin(8, 0, 0)
    assert made.part(CAPTIONS, EVERY, UNUSED_DRAW, CPU) is None


def test_seed_epoch_and_number_decide() -> None:
    assert drawn(source(), 8, 4) == drawn(source(), 8, 4)
    assert drawn(source(), 8, 4) != drawn(source(), 8, 5)
    assert drawn(source(), 8, 4) != drawn(source(1), 8, 4)


def test_parts_make_the_whole() -> None:
    whole = torch.cat([ids for ids, _ in batch(source(), 9, 0, 0)], dim=1)
    parts = [
        torch.cat([ids for ids, _ in batch(source(), 9, 0, 0, slice(i, i + 3))], dim=1) for i in (0, 3, 6)
    ]
    assert torch.equal(torch.cat(parts), whole)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pairs.safetensors"
    file.write_bytes(b"no tensors")
    with pytest.raises(DamagedError, match=r"pairs\.safetensors can't be read"):
        read_pairs(file)


def weighted(seed: int = 0) -> PseudopairSupplier:
    """As `source`; of German and English the first pair weighs three times what the others do."""
    made = source(seed)
    made.pair(made.pairs, {("de", "en"): np.array([0.9, *[0.3] * 29], np.float32)})
    return made


def test_pairs_come_in_proportion_to_their_weights() -> None:
    counts = np.zeros(30)
    for number in range(400):
        for one, other in drawn(weighted(), 8, number):
            counts[one - 100] += other < 300
    assert counts[0] / counts[1:].mean() == pytest.approx(3, rel=0.3)
    assert (counts > 0).all()


def test_weights_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "pairs.safetensors"
    weighted().write(file)
    again = PseudopairSupplier(TOKENS, 0)
    again.pair(*read_pairs(file))
    assert list(again.pairs) == list(source().pairs)
    assert list(again.weights) == [("de", "en")]
    assert drawn(again, 8, 1) == drawn(weighted(), 8, 1)
