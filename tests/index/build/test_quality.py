"""Confidence from aligned sentences: right about how often it is right, on sentences it has not seen."""

from pathlib import Path

import pytest

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.build.calibration import FOREIGN, FOREIGN_ALIGNED, FULL, GLOSS, PARAPHRASE
from index.build.changes import change_index, rebuild_index
from index.build.pools import Indexes
from index.build.quality import calibrate
from index.confidence.models import Confidence
from index.encoder.bundle import Bundle, open_index_encoder
from index.encoder.text_encoder import TextEncoder
from index.errors import CorpusError
from index.formats.registry import Source
from index.storage.index_manifest import IndexManifest
from index.storage.options import Options
from index.storage.versions import open_version
from tests.bundles import make_bundle, make_corpus

CODES = ("en", "de", "pt")
FACTORY = "IVF16,PQ16x4fsr,RFlat"


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """An encoder whose languages are so far apart that many answers are wrong."""
    return make_bundle(tmp_path_factory.mktemp("noisy") / "b", noise=0.9)


def moses(folder: Path, count: int) -> list[Source]:
    """Line i of each file translates line i of the others."""
    files = make_corpus(folder, CODES, count)
    return [Source(path.rename(folder / f"x.{code}")) for code, path in files.items()]


@pytest.fixture(scope="module")
def index(noisy: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibrated")
    build_index(noisy, moses(folder / "c", 600), folder / "index", options=Options(FACTORY))
    return folder / "index"


@pytest.fixture(scope="module")
def manifest(index: Path) -> IndexManifest:
    return open_version(index)[1]


def test_the_manifest_says_how_good_each_pair_is(manifest: IndexManifest) -> None:
    assert set(manifest.quality) == {f"{a}-{b}" for a in CODES for b in CODES if a != b}
    for entry in manifest.quality.values():
        assert 0.2 < entry.r1 <= entry.r10 <= 1
        assert entry.n == 600
        assert entry.ece is not None
        assert entry.ece < 0.15


def test_confidence_is_fitted_and_measured_on_the_index(manifest: IndexManifest) -> None:
    confidence = manifest.confidence
    assert (confidence.source, confidence.n) == ("aligned", 6 * 600 * 2)
    assert confidence.ece is not None
    assert confidence.ece < 0.05
    assert set(confidence.lengths) == set(CODES)
    fitted = confidence.foreign_aligned, confidence.sentence, confidence.foreign, confidence.gloss
    assert [model and (*model.weights,) for model in fitted] == [FOREIGN_ALIGNED, FULL, FOREIGN, GLOSS]


def test_the_factory_and_its_recall_are_in_the_manifest(index: Path, manifest: IndexManifest) -> None:
    for code, entry in manifest.languages.items():
        assert entry.search.factory == FACTORY
        assert entry.search.recall is not None
        assert entry.search.recall >= 0.98
        assert f"{code}.faiss" in manifest.files
    assert Translator.open(index).sentences(["A black dog runs on the snow."], "en", "de")[0]


def test_the_order_of_languages_changes_no_confidence(
    noisy: Bundle, manifest: IndexManifest, tmp_path: Path
) -> None:
    sources = moses(tmp_path / "c", 600)[::-1]
    other = build_index(noisy, sources, tmp_path / "index", options=Options(FACTORY)).confidence
    for name in ("sentence", "foreign", "foreign_aligned", "gloss"):
        one, two = (getattr(confidence, name) for confidence in (manifest.confidence, other))
        assert two.weights == pytest.approx(one.weights, abs=1e-4)
        assert two.bias == pytest.approx(one.bias, abs=1e-4)


def test_too_few_aligned_sentences_fit_nothing(noisy: Bundle, tmp_path: Path) -> None:
    """But what means the same, which is asked with scenes that are added to them."""
    manifest = build_index(noisy, moses(tmp_path / "c", 12), tmp_path / "index")
    encoders = Confidence.of_encoder(noisy.manifest.calibration)
    paraphrase, lengths = manifest.confidence.paraphrase, manifest.confidence.lengths
    assert ((*paraphrase.weights,), paraphrase.n > 1000) == (PARAPHRASE, True)
    fitted = {"paraphrase": paraphrase, "lengths": lengths}
    assert manifest.confidence == encoders.model_copy(update=fitted)
    assert manifest.quality["en-de"].n == 12
    assert manifest.quality["en-de"].ece is None


def by_line(folder: Path, count: int = 200) -> list[Source]:
    return [Source(path, code) for code, path in make_corpus(folder, CODES, count).items()]


def test_lines_that_correspond_answer_and_are_measured(noisy: Bundle, tmp_path: Path) -> None:
    plain = build_index(noisy, by_line(tmp_path / "c"), tmp_path / "plain")
    aligned = build_index(noisy, by_line(tmp_path / "c"), tmp_path / "aligned", options=Options(aligned=True))
    assert set(aligned.quality) == {f"{a}-{b}" for a in CODES for b in CODES if a != b}
    for entry in aligned.quality.values():
        assert (entry.n, entry.ece) == (200, None)
        assert 0.2 < entry.r1 < entry.r10 <= 1
    # The encoder may know these very lines: nothing is fitted on them.
    assert aligned.confidence.source == plain.confidence.source
    text = (tmp_path / "c" / "en.txt").read_text("utf-8").splitlines()[7]
    german = (tmp_path / "c" / "de.txt").read_text("utf-8").splitlines()[7]
    ((best,),) = Translator.open(tmp_path / "aligned").sentences([text], "en", "de")
    assert (best.text, best.match) == (german, "exact")
    # Changes of the index know it, too.
    changed = change_index(tmp_path / "aligned", delete=["en:1"])
    assert changed.confidence.source == aligned.confidence.source
    again = rebuild_index(tmp_path / "aligned", by_line(tmp_path / "c"))
    assert again.quality == aligned.quality


def test_lines_that_were_dropped_are_not_measured(noisy: Bundle, tmp_path: Path) -> None:
    """And those after them stay with their translations."""
    sources = by_line(tmp_path / "c", 60)
    lines = sources[0].path.read_text("utf-8").splitlines()
    sources[0].path.write_text("\n".join([*lines[:20], *[""] * 20, *lines[40:]]) + "\n", "utf-8")
    manifest = build_index(noisy, sources, tmp_path / "index", options=Options(aligned=True))
    assert manifest.quality["en-de"].n == 40
    assert manifest.quality["pt-de"].n == 60
    assert manifest.quality["en-de"].r10 > 0.5


def test_lines_that_cannot_correspond_are_refused(noisy: Bundle, tmp_path: Path) -> None:
    sources = by_line(tmp_path / "c", 20)
    with sources[0].path.open("a", encoding="utf-8") as file:
        file.write("A cat sleeps.\n")
    with pytest.raises(CorpusError, match="line i must translate line i"):
        build_index(noisy, sources, tmp_path / "index", options=Options(aligned=True))


def test_without_alignment_nothing_is_claimed(index_dir: Path) -> None:
    manifest = open_version(index_dir)[1]
    assert manifest.quality == {}
    assert manifest.confidence.source == "encoder"
    encoder = TextEncoder(open_index_encoder(*open_version(index_dir)))
    translator = Translator.open(index_dir)
    indexes = Indexes(translator.sentence_indexes, translator.word_indexes)
    assert calibrate(indexes, encoder, {}, {}, known=False) == (None, {})
