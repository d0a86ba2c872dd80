"""The batch job: what it reads, what it writes, and what is left of it when it is killed."""

import gzip
import shutil
import signal
from collections import Counter
from collections.abc import Sequence
from functools import partial
from operator import eq
from pathlib import Path

import numpy as np
import pytest

from index.answers.translator import Translator
from index.build import corpus
from index.build.build_index import build_index
from index.build.encoding import Encoded, Worker
from index.build.maintenance import collect
from index.encoder.bundle import Bundle, open_bundle
from index.errors import DamagedError
from index.formats.registry import Source, read
from index.storage.files import entries_of
from index.storage.index_manifest import IndexManifest
from index.storage.versions import current, open_version, versions
from index.text.normalisation import words
from index.vectors.neighbourhoods import csls_scores, neighbourhood_means
from index.words.vocabulary import training_words
from tests.bundles import make_corpus, sentences
from tests.conftest import Fails
from tests.damage import longest_file
from tests.dying import never, run_apart
from tests.files import jsonl, write_lines

ENGLISH, GERMAN = sentences("en")[::40], sentences("de")[::40]


@pytest.fixture
def corpora(tmp_path: Path) -> dict[str, Path]:
    return make_corpus(tmp_path / "corpus", ("en", "de"), count=40)


def test_the_manifest_counts_what_was_read(bundle: Bundle, tmp_path: Path) -> None:
    english = write_lines(tmp_path / "en.txt", [*ENGLISH, "", ENGLISH[0]])
    german = tmp_path / "de.txt.gz"
    german.write_bytes(gzip.compress("\n".join(GERMAN).encode()))
    made = build_index(bundle, {"en": english, "de": german}, tmp_path / "index")
    assert list(made.languages) == ["en", "de"]
    entry = made.languages["en"]
    assert (entry.sentences, entry.lines, entry.changed) == (36, 38, 0)
    assert entry.dropped == {"empty": 1, "duplicate": 1}
    assert made == open_version(tmp_path / "index")[1]


def test_the_vocabulary_is_of_corpus_and_training(bundle: Bundle, tmp_path: Path) -> None:
    english = write_lines(tmp_path / "en.txt", ["The zebra sleeps, the Zebra runs."])
    german = write_lines(tmp_path / "de.txt", ["Das Zebra schläft."])
    made = build_index(bundle, {"en": english, "de": german}, tmp_path / "index")
    known = set(training_words(bundle, "en")) | set(words("The zebra sleeps, the Zebra runs.", "en"))
    assert made.languages["en"].words == len(known)
    found = Translator.open(tmp_path / "index").words(["zebra", "dog", "xyz"], "en", "de")
    assert [answers[0].in_vocabulary for answers in found] == [True, True, False]
    assert found[1][0].text == "hund"


def test_hubness_is_measured_from_every_other_language(index_dir: Path) -> None:
    folder, manifest = open_version(index_dir)
    vectors = {
        code: index.vectors.reconstruct(range(len(index)))
        for code, index in Translator.open(index_dir).sentence_indexes.items()
    }
    for code in manifest.languages:
        found = np.load(folder / f"{code}.hubness.npy")
        wanted = [neighbourhood_means(vectors[code] @ vectors[other].T) for other in manifest.sources(code)]
        np.testing.assert_allclose(found, np.stack(wanted, axis=1), atol=1e-6)


def test_the_best_score_of_each_word_is_measured_in_every_language(index_dir: Path) -> None:
    folder, manifest = open_version(index_dir)
    words = Translator.open(index_dir).word_indexes
    code, other = manifest.partners[:2]
    rows, others = np.arange(len(words[code])), np.arange(len(words[other]))
    cosines = words[code].vectors_at(rows) @ words[other].vectors_at(others).T
    scores = csls_scores(
        cosines, words[code].crowding(rows, other)[:, None], words[other].crowding(others, code)
    )
    found = np.load(folder / f"{code}.words.best.npy")
    assert found.shape == (len(rows), len(manifest.partners))
    np.testing.assert_allclose(found[:, 1], scores.max(axis=1, initial=0), atol=1e-5)


def test_the_best_score_of_each_sentence_is_measured_in_every_other_language(index_dir: Path) -> None:
    folder, manifest = open_version(index_dir)
    sentences = Translator.open(index_dir).sentence_indexes
    code, other = list(manifest.languages)[:2]
    own, others = (
        index.vectors.reconstruct(range(len(index))) for index in (sentences[code], sentences[other])
    )
    means = sentences[code].means_from(other)[:, None], sentences[other].means_from(code)
    found = np.load(folder / f"{code}.best.npy")
    assert found.shape == (len(own), len(manifest.sources(code)))
    wanted = csls_scores(own @ others.T, *means).max(axis=1, initial=0)
    np.testing.assert_allclose(found[:, manifest.sources(code).index(other)], wanted, atol=1e-5)


def test_the_number_of_threads_changes_no_byte(bundle: Bundle, tmp_path: Path) -> None:
    corpora = make_corpus(tmp_path / "corpus", ("en", "de", "pt"), count=200)
    made = [build_index(bundle, corpora, tmp_path / f"{n}", threads=n).files for n in (1, 2, 3)]
    assert made[0] == made[1] == made[2]


def test_a_second_build_is_a_new_version_and_the_first_stays(
    bundle: Bundle, corpora: dict[str, Path], tmp_path: Path
) -> None:
    first = build_index(bundle, corpora, tmp_path / "index")
    kept = entries_of(tmp_path / "index" / "versions" / first.version)
    second = build_index(bundle, {"en": corpora["en"]}, tmp_path / "index")
    assert versions(tmp_path / "index") == [first.version, second.version]
    assert current(tmp_path / "index") == second.version
    assert entries_of(tmp_path / "index" / "versions" / first.version) == kept
    assert Translator.open(tmp_path / "index", version=first.version).version == first.version
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == ["CURRENT", "versions", "work"]


def test_one_language_alone_can_be_searched_from_the_others(bundle: Bundle, tmp_path: Path) -> None:
    build_index(bundle, {"de": write_lines(tmp_path / "de.txt", GERMAN)}, tmp_path / "index")
    (match,) = Translator.open(tmp_path / "index").sentences([ENGLISH[5]], "en", "de")[0]
    assert match.text == GERMAN[5]


def test_a_disk_that_is_full_is_one_line_and_leaves_the_old_version_served(
    bundle: Bundle, corpora: dict[str, Path], tmp_path: Path, fails: Fails
) -> None:
    index = tmp_path / "index"
    old = build_index(bundle, corpora, index)
    given = ["--encoder", str(bundle.folder), "--corpus", f"en={corpora['en']}", "--out", str(index)]
    for limit in (100, 1_000, 4_000, 20_000):
        with longest_file(limit):
            assert f"{index}: stopped (" in fails("index", "build", *given, code=1)
        assert Translator.open(index).version == old.version
        assert not (index / "work" / "build").exists()
    made = build_index(bundle, {"en": corpora["en"]}, index)
    assert open_version(index, fresh=True)[1] == made


def build(folder: Path, corpora: dict[str, Path], out: Path) -> None:
    build_index(open_bundle(folder), corpora, out)


def has_written(out: Path, name: str, count: int) -> bool:
    return any(out.glob(f"work/*/{name}"))


@pytest.fixture(scope="module")
def old(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index. Not to be changed."""
    folder = tmp_path_factory.mktemp("old")
    build_index(bundle, make_corpus(folder / "corpus", ("en", "de"), 20), folder / "index")
    return folder / "index"


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_corpus(tmp_path_factory.mktemp("corpora") / "new", ("en", "de"), 40)


@pytest.fixture(scope="module")
def unbroken(
    bundle: Bundle, old: Path, new: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, IndexManifest]:
    """How many durable moments a build has, and what it makes when nothing stops it."""
    out = shutil.copytree(old, tmp_path_factory.mktemp("unbroken") / "index")
    code, count = run_apart(never, build, bundle.folder, new, out)
    assert code == 0
    return count, open_version(out)[1]


# From the end, since there lie the moments of publication: CURRENT's replace is the second to last.
@pytest.mark.parametrize("moment", [1, "half", -6, -5, -4, -3, -2, -1, 0])
def test_a_killed_build_leaves_a_served_version_and_is_finished_by_the_next(
    bundle: Bundle,
    old: Path,
    new: dict[str, Path],
    unbroken: tuple[int, IndexManifest],
    tmp_path: Path,
    moment: int | str,
) -> None:
    total, wanted = unbroken
    number = total // 2 if moment == "half" else int(moment)
    number = number if number > 0 else total + number
    index = shutil.copytree(old, tmp_path / "index")
    code, _ = run_apart(partial(eq, number), build, bundle.folder, new, index)
    assert code == -signal.SIGKILL

    versions_before = versions(index)
    served = Translator.open(index)
    assert served.version in (current(old), wanted.version)
    assert served.sentences([ENGLISH[0]], "en", "de")[0][0].text == GERMAN[0]

    made = build_index(bundle, new, index)
    assert made.files == wanted.files
    assert open_version(index, fresh=True)[1] == made
    assert len(versions(index)) == (3 if wanted.version in versions_before else 2)
    assert sorted(path.name for path in (index / "work").iterdir()) == ["LOCK"]


def test_a_build_goes_on_from_the_vectors_of_one_that_was_killed(
    bundle: Bundle, corpora: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, encoded = tmp_path / "index", list[str]()
    due = partial(has_written, out, "en.words.arrow")
    assert run_apart(due, build, bundle.folder, corpora, out)[0] == -signal.SIGKILL
    encode = Worker.encode

    def counted(self: Worker, code: str, texts: Sequence[str], check_language: bool) -> Encoded:
        encoded.extend(texts)
        return encode(self, code, texts, check_language)

    monkeypatch.setattr(Worker, "encode", counted)
    made = build_index(bundle, corpora, out)
    assert encoded == []
    assert made.files == build_index(bundle, corpora, tmp_path / "undisturbed").files


def test_a_file_is_read_once(
    bundle: Bundle, corpora: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes once it was read changes nothing; a corpus with several languages is no exception."""
    rows = [{"en": one, "de": other} for one, other in zip(ENGLISH[:20], GERMAN[:20], strict=True)]
    table = jsonl(tmp_path / "both.jsonl", rows)
    files = Counter[str]()
    monkeypatch.setattr(corpus, "read", lambda source: files.update([source.path.name]) or read(source))
    sources = [Source(table), *(Source(path, code) for code, path in corpora.items())]
    made = build_index(bundle, sources, tmp_path / "index")
    assert files == dict.fromkeys(("both.jsonl", "en.txt", "de.txt"), 1)
    assert made.languages["en"].links == 20


def test_an_encoder_that_changes_after_it_was_checked_is_not_published(
    bundle: Bundle, corpora: dict[str, Path], tmp_path: Path
) -> None:
    opened = open_bundle(shutil.copytree(bundle.folder, tmp_path / "encoder"))
    with opened.card.open("a") as card:
        card.write("More.")
    with pytest.raises(DamagedError, match=r"README\.md"):
        build_index(opened, corpora, tmp_path / "index")
    assert versions(tmp_path / "index") == []


def test_published_files_can_only_be_read(bundle: Bundle, corpora: dict[str, Path], tmp_path: Path) -> None:
    made = build_index(bundle, corpora, tmp_path / "index")
    folder, _ = open_version(tmp_path / "index")
    modes = {name: (folder / name).stat().st_mode & 0o777 for name in (*made.files, "manifest.json")}
    assert {mode & 0o222 for mode in modes.values()} == {0}, modes
    # And are removed all the same.
    build_index(bundle, {"en": corpora["en"]}, tmp_path / "index")
    assert collect(tmp_path / "index", keep=1) == [made.version]
