"""The encoders that come with the repository."""

import re
from pathlib import Path

import numpy as np
import pytest

from index.encoder.bundle import Bundle, open_bundle
from index.encoder.text_encoder import TextEncoder
from index.encoder.word_list import read_word_list
from index.languages import languages

MODELS = Path(__file__).resolve().parents[3] / "models"
LARGEST = 32_000_000  # bytes
# The 52 languages of Globetrotter (Surís et al. 2022, footnote 1).
GLOBETROTTER = re.findall(
    r"[\w-]+",
    """af sq am ar az bn bs bg zh hr cs da prs nl en et fi fr ka de el ha he hi hu id it ja ko lv
ms no fa ps pl pt ro ru sr sk sl so es sw sv fil ta th tr uk ur vi""",
)
PAIRS = [("sun", "sol", "pt"), ("red heart", "rotes Herz", "de"), ("black cat", "gato negro", "es")]


@pytest.fixture(scope="module", params=["small", "open"])
def shipped(request: pytest.FixtureRequest) -> Bundle:
    return open_bundle(MODELS / request.param)


def test_nothing_else_is_shipped() -> None:
    assert {path.name for path in MODELS.iterdir()} == {"small", "open"}


def test_it_is_small(shipped: Bundle) -> None:
    assert sum(file.stat().st_size for file in shipped.folder.rglob("*") if file.is_file()) <= LARGEST


def test_it_knows_globetrotters_languages_except_dari(shipped: Bundle) -> None:
    assert len(set(GLOBETROTTER)) == 52
    assert set(GLOBETROTTER) - set(shipped.manifest.languages) <= {"prs"}, "Dari came last"
    assert set(shipped.manifest.languages) <= set(languages()), "each has a name"


def test_every_language_has_words_and_the_encoder_reads_them(shipped: Bundle) -> None:
    encoder = TextEncoder(shipped)
    for code in shipped.manifest.languages:
        file = shipped.words(code)
        assert file is not None, code
        listed = list(read_word_list(file).counts)
        assert len(listed) > 300, code
        vectors = encoder.word_vectors(listed[:300], code)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4)
        assert len(np.unique(vectors.round(3), axis=0)) > 200, code


@pytest.mark.parametrize(("one", "other", "language"), PAIRS)
def test_what_says_the_same_is_near(shipped: Bundle, one: str, other: str, language: str) -> None:
    asked, *answers = TextEncoder(shipped).encode([one, *(pair[1] for pair in PAIRS)])
    assert np.argmax(np.stack(answers) @ asked) == [pair[1] for pair in PAIRS].index(other), language


def test_the_terms_of_the_data_are_stated(shipped: Bundle) -> None:
    licence, card = shipped.manifest.licence, shipped.card.read_text("utf-8")
    assert licence.startswith("research only" if shipped.name.startswith("small@") else "CC BY-SA 4.0")
    assert licence in card
