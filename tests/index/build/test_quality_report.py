"""Confidence from aligned sentences: right about how often it is right, on sentences it has not seen."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from index.build.build_index import build_index
from index.build.quality_report import calibrate, measure_lines
from index.build.questions import questions
from index.confidence.calibration import calibration_error
from index.confidence.quality import risk_coverage
from index.encoder.bundle import Bundle
from index.errors import UsageError
from index.formats.registry import Source
from index.search.sentence_index import SentenceIndex
from index.search.translator import Translator
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


def opened(index: Path) -> dict[str, SentenceIndex]:
    return Translator.open(index)._sentences


def test_the_manifest_says_how_good_each_pair_is(manifest: IndexManifest) -> None:
    assert set(manifest.quality) == {f"{a}-{b}" for a in CODES for b in CODES if a != b}
    for entry in manifest.quality.values():
        assert 0.2 < entry.r1 <= entry.r10 <= 1
        assert entry.n == 600
        assert entry.ece is not None
        assert entry.ece < 0.15


def test_r10_is_how_often_one_of_ten_answers_is_right(index: Path, manifest: IndexManifest) -> None:
    indexes = opened(index)
    rows, answers = questions(indexes["en"], indexes["de"], 600, np.random.default_rng(1))
    vectors = indexes["en"].vectors.reconstruct(rows)
    ten = indexes["de"].search(vectors, "en", 10)
    right = [{match.row for match in row} & set(own) for row, own in zip(ten, answers, strict=True)]
    assert np.mean(list(map(bool, right))) == pytest.approx(manifest.quality["en-de"].r10)


def test_confidence_is_fitted_and_measured_on_the_index(manifest: IndexManifest) -> None:
    confidence = manifest.confidence
    assert (confidence.source, manifest.calibrated, confidence.n) == ("aligned", True, 6 * 600 * 2)
    assert confidence.ece is not None
    assert confidence.ece < 0.05
    assert set(confidence.length) == set(CODES)
    assert confidence.lengths is not None
    assert confidence.lengths.by_words


def test_the_surest_answers_are_wrong_least(manifest: IndexManifest) -> None:
    curve = manifest.confidence.curve
    assert [point.coverage for point in curve] == pytest.approx(np.arange(1, 11) / 10)
    assert curve[0].risk < 0.25 < 0.5 <= curve[-1].risk
    assert all(early.confidence >= late.confidence for early, late in pairwise(curve))


def test_answers_have_that_confidence(index: Path, manifest: IndexManifest) -> None:
    """Asked in rows of the index, with the translations that the search finds by itself."""
    indexes = opened(index)
    rows, answers = questions(indexes["en"], indexes["de"], 400, np.random.default_rng(1))
    texts = [indexes["en"].sentence(row).text for row in rows.tolist()]
    vectors = indexes["en"].vectors.reconstruct(rows)
    found = [matches[0] for matches in indexes["de"].search(vectors, "en", 1, texts)]
    right = np.array([match.row in own for match, own in zip(found, answers, strict=True)])
    chances = np.array([match.confidence for match in found])
    # Here every question has an answer, of the questions it was fitted on one in two: it says less.
    assert right.mean() - 0.35 < chances.mean() < right.mean() + 0.05
    surest = np.argsort(-chances)[: len(chances) // 4]
    assert right[surest].mean() >= right.mean()
    plain = [matches[0].confidence for matches in indexes["de"].search(vectors, "en", 1)]
    assert calibration_error(np.array(plain), right) > 0  # without texts another calibration answers
    assert plain != chances.tolist()


def test_the_factory_and_its_recall_are_in_the_manifest(index: Path, manifest: IndexManifest) -> None:
    for code, entry in manifest.languages.items():
        assert entry.search.factory == FACTORY
        assert entry.search.recall is not None
        assert entry.search.recall >= 0.98
        assert f"{code}.faiss" in manifest.files
    assert Translator.open(index).sentences(["A black dog runs on the snow."], "en", "de")[0]


def test_hubness_is_shown_before_and_after_csls(manifest: IndexManifest) -> None:
    assert set(manifest.hubness) == set(manifest.quality)
    before, after = (
        np.mean([getattr(entry, name) for entry in manifest.hubness.values()]) for name in ("cosine", "csls")
    )
    assert after < before


def test_too_few_aligned_sentences_fit_nothing(noisy: Bundle, tmp_path: Path) -> None:
    manifest = build_index(noisy, moses(tmp_path / "c", 12), tmp_path / "index")
    assert manifest.confidence.source == "fixed"
    assert not manifest.calibrated
    assert manifest.quality["en-de"].n == 12
    assert manifest.quality["en-de"].ece is None


def by_line(folder: Path, count: int = 200) -> list[Source]:
    return [Source(path, code) for code, path in make_corpus(folder, CODES, count).items()]


def test_lines_that_correspond_are_measured_and_answer_nothing(
    noisy: Bundle, manifest: IndexManifest, tmp_path: Path
) -> None:
    sources = by_line(tmp_path / "c")
    plain = build_index(noisy, sources, tmp_path / "plain")
    measured = build_index(noisy, sources, tmp_path / "measured", measure_aligned=True)
    assert set(measured.quality) == {f"{a}-{b}" for a in CODES for b in CODES if a != b}
    for entry in measured.quality.values():
        assert (entry.n, entry.ece) == (200, None)
        assert 0.2 < entry.r1 < entry.r10 <= 1
    # As many are found as where the same lines are declared translations of each other.
    known = build_index(noisy, moses(tmp_path / "moses", 200), tmp_path / "known").quality
    assert {pair: entry.r10 for pair, entry in measured.quality.items()} == {
        pair: pytest.approx(entry.r10, abs=1e-9) for pair, entry in known.items()
    }
    # All the rest is as without.
    assert all(entry.links == 0 for entry in measured.languages.values())
    assert measured.confidence == plain.confidence
    answers = [
        Translator.open(tmp_path / name).sentences(["A black dog runs on the snow."], "en", "de")
        for name in ("plain", "measured")
    ]
    assert answers[0] == answers[1]


def test_lines_are_measured_with_the_answers_that_users_get(
    index: Path, manifest: IndexManifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The share that is found first is that of `search`, which chooses by the confidence that was fitted."""
    monkeypatch.setattr("index.build.quality_report.LINES_MEASURED", 600)
    indexes = opened(index)
    lines = {code: np.arange(len(rows)) for code, rows in indexes.items()}
    measured = measure_lines(indexes, lines, manifest.confidence)["en", "de"]
    vectors = indexes["en"].vectors.reconstruct(np.arange(600))
    texts = [indexes["en"].sentence(row).text for row in range(600)]
    answers = indexes["de"].search(vectors, "en", 1, texts)
    rows = indexes["de"].rows([matches[0].id for matches in answers])
    assert (measured.n, measured.ece) == (600, None)
    assert measured.r1 == pytest.approx(np.mean(np.array(rows) == np.arange(600)), abs=0.02)


def test_lines_that_were_dropped_are_not_measured(noisy: Bundle, tmp_path: Path) -> None:
    """And those after them keep their numbers."""
    sources = by_line(tmp_path / "c", 60)
    lines = sources[0].path.read_text("utf-8").splitlines()
    sources[0].path.write_text("\n".join([*lines[:20], *lines[:20], *lines[40:]]) + "\n", "utf-8")
    manifest = build_index(noisy, sources, tmp_path / "index", measure_aligned=True)
    assert manifest.quality["en-de"].n == 40
    assert manifest.quality["pt-de"].n == 60
    assert manifest.quality["en-de"].r10 > 0.5


def test_lines_that_cannot_correspond_are_refused(noisy: Bundle, tmp_path: Path) -> None:
    sources = by_line(tmp_path / "c", 20)
    table = tmp_path / "c" / "more.tsv"
    table.write_text("A dog runs.\n", "utf-8")
    for wrong in ([*sources, Source(table, "en")], [*sources[1:], Source(table, "en")]):
        with pytest.raises(UsageError, match="one text file a language"):
            build_index(noisy, wrong, tmp_path / "index", measure_aligned=True)
    with sources[0].path.open("a", encoding="utf-8") as file:
        file.write("A cat sleeps.\n")
    with pytest.raises(UsageError, match=r"differ in lines \(en 21, de 20, pt 20\)"):
        build_index(noisy, sources, tmp_path / "index", measure_aligned=True)


def test_without_alignment_nothing_is_claimed(index_dir: Path) -> None:
    manifest = open_version(index_dir)[1]
    assert manifest.quality == {}
    assert manifest.confidence.source == "fixed"
    assert calibrate(opened(index_dir)) == (None, {})


def test_the_curve_by_hand() -> None:
    chances, right = np.array([0.9, 0.1, 0.8, 0.5]), np.array([True, False, False, True])
    curve = {point.coverage: point for point in risk_coverage(chances, right)}
    assert (curve[0.5].confidence, curve[0.5].risk) == (0.8, 0.5)
    assert (curve[1.0].confidence, curve[1.0].risk) == (0.1, 0.5)
    assert curve[0.1].risk == 0
