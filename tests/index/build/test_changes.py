"""Sentences added, replaced and deleted: what a dictionary says, and nothing encoded twice."""

import json
import os
import shutil
import signal
from collections.abc import Sequence
from functools import partial
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from numpy.typing import NDArray

from index.answers.answer import Original
from index.answers.sentence_features import Features
from index.answers.translator import Translator
from index.answers.word_index import WORD_COLUMNS
from index.build import quick_change
from index.build.build_index import build_index
from index.build.changes import change_index, rebuild_index
from index.build.encoding import Worker
from index.build.maintenance import collect, roll_back
from index.encoder.bundle import Bundle
from index.errors import BundleError, CorpusError, DamagedError, OutdatedError, UsageError
from index.formats.registry import Source
from index.storage.files import entries_of
from index.storage.index_manifest import VectorSegment
from index.storage.options import Cleaning, Options
from index.storage.tables import SENTENCE_COLUMNS, read_table
from index.storage.versions import DETECTOR, current, locked, open_version, serve, versions
from passepartout import run
from tests.bundles import make_corpus, sentences
from tests.conftest import Fails, Says
from tests.damage import flip_middle, longest_file
from tests.dying import never, run_apart
from tests.files import jsonl, texts, write_lines

ENGLISH, GERMAN = sentences("en"), sentences("de")


@pytest.fixture(scope="module")
def made(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 aligned sentences of en and de as en:0 ... en:29. Not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    rows = [{"id": f"{n}", "en": ENGLISH[n * 40], "de": GERMAN[n * 40]} for n in range(30)]
    build_index(bundle, [Source(jsonl(folder / "base.jsonl", rows))], folder / "index")
    return folder / "index"


@pytest.fixture
def index(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "index")


FACTORY = "PQ16x4fs,RFlat"


def vectors(translator: Translator) -> NDArray[np.float32]:
    index = translator.sentence_indexes["en"].vectors
    return index.reconstruct(range(len(index)))


def test_only_new_texts_are_encoded(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = vectors(Translator.open(index))
    encoded: list[str] = []
    encode = Worker.encode

    def counted(self: Worker, code: str, given: Sequence[str], check_language: bool) -> object:
        encoded.extend(given)
        return encode(self, code, given, check_language)

    monkeypatch.setattr(Worker, "encode", counted)
    change_index(index, delete=["en:3", "de:7"])
    assert encoded == []
    more = jsonl(tmp_path / "more.jsonl", [{"en": ENGLISH[1]}, {"en": ENGLISH[40]}, {"en": ENGLISH[2]}])
    change_index(index, add=[Source(more)])
    assert encoded == [ENGLISH[1], ENGLISH[2]]  # the other is there
    changed = jsonl(tmp_path / "x.jsonl", [{"id": "0", "en": ENGLISH[3]}, {"id": "1", "en": ENGLISH[40]}])
    change_index(index, replace=[Source(changed)])
    assert encoded == [ENGLISH[1], ENGLISH[2], ENGLISH[3]]
    translator = Translator.open(index)
    after = vectors(translator)
    wanted = np.concatenate([before[:3], before[4:], translator.encode(ENGLISH[1:3])])
    wanted[0] = translator.encode([ENGLISH[3]])[0]
    np.testing.assert_allclose(after, wanted, atol=1e-6)


def test_alignments_outlive_changes(index: Path, tmp_path: Path) -> None:
    change_index(index, delete=["en:3", "de:5"])
    changed = jsonl(tmp_path / "x.jsonl", [{"id": "9", "text": "Ein Hund.", "language": "de", "note": "n"}])
    change_index(index, replace=[Source(changed)])
    translator = Translator.open(index)
    (first,) = translator.sentences([ENGLISH[9 * 40]], "en", "de")[0]
    assert (first.text, first.id, first.metadata["note"]) == ("Ein Hund.", "de:9", "n")
    change_index(index, replace=[Source(jsonl(changed, [{"id": "9", "de": "Ein Hund!"}]))])
    (first,) = Translator.open(index).sentences([ENGLISH[9 * 40]], "en", "de")[0]
    assert (first.text, first.metadata["note"]) == ("Ein Hund!", "n")  # what is not given stays
    assert first.original == Original(text=ENGLISH[9 * 40], id="en:9")
    (other,) = translator.sentences([ENGLISH[5 * 40]], "en", "de")[0]
    assert other.original is None or other.original.id != "en:5"


@pytest.mark.parametrize("quick", [False, True])
def test_a_table_may_give_ids_as_answers_do(index: Path, tmp_path: Path, quick: bool) -> None:
    rows = [{"id": "1", "en": "A bear."}, {"id": "en:2", "en": "A wolf."}]
    change_index(index, replace=[Source(jsonl(tmp_path / "x.jsonl", rows))], quick=quick)
    assert {"en:1": "A bear.", "en:2": "A wolf."}.items() <= texts(index).items()
    rows = [{"id": "en:1", "en": "A fox."}]
    change_index(index, add=[Source(jsonl(tmp_path / "y.jsonl", rows))], own_ids=True, quick=quick)
    change_index(index, replace=[Source(jsonl(tmp_path / "z.jsonl", [rows[0] | {"en": "A hen."}]))])
    assert {"en:1": "A bear.", "en:en:1": "A hen."}.items() <= texts(index).items()


def test_added_sentences_are_cleaned_as_the_index_was_and_aligned(index: Path, tmp_path: Path) -> None:
    rows = [{"en": "A  new dog.", "de": "Ein neuer Hund."}, {"en": ENGLISH[0], "de": "Der hund, gut."}]
    made = change_index(index, add=[Source(jsonl(tmp_path / "more.jsonl", rows))])
    assert made.languages["en"].dropped == {"duplicate": 1}
    found = texts(index)
    assert found["en:more.jsonl:1"] == "A new dog."
    assert found["de:more.jsonl:2"] == "Der hund, gut."
    answers = Translator.open(index).sentences([ENGLISH[0]], "en", "de", 2)[0]
    assert {answer.text for answer in answers} == {GERMAN[0], "Der hund, gut."}


def test_a_changed_index_identifies_languages_as_a_new_one_does(
    index: Path, bundle: Bundle, tmp_path: Path
) -> None:
    def table(folder: Path) -> bytes:
        return (open_version(folder)[0] / DETECTOR).read_bytes()

    before = table(index)
    row = {"pt": "O cão corre."}
    made = change_index(index, add=[Source(jsonl(tmp_path / "pt.jsonl", [row]))])
    assert list(made.languages) == ["en", "de", "pt"]
    assert texts(index)["pt:1"] == "O cão corre."
    both = [{"en": ENGLISH[n * 40], "de": GERMAN[n * 40]} for n in range(30)]
    build_index(bundle, [Source(jsonl(tmp_path / "all.jsonl", [*both, row]))], tmp_path / "new")
    assert table(index) == table(tmp_path / "new")
    assert list(change_index(index, delete=["pt:1"]).languages) == ["en", "de"]
    assert table(index) == before


def test_options_are_kept(bundle: Bundle, tmp_path: Path) -> None:
    index = tmp_path / "index"
    files = make_corpus(tmp_path / "corpus", ("en", "de"), 300)
    options = Options(factory=FACTORY)
    build_index(bundle, files, index, options=options)
    for _ in range(2):
        made = change_index(index, delete=[f"en:{current(index)[-1]}"])
        assert made.options == options
        assert made.languages["de"].search.factory == FACTORY
        table = read_table(
            index / "versions" / made.version / "en.words.arrow", WORD_COLUMNS, made.languages["en"].words
        )
        assert min(table.column("count").to_pylist()) >= 2


def test_deletions_are_recorded_and_rows_renumbered(index: Path, tmp_path: Path) -> None:
    change_index(index, add=[Source(jsonl(tmp_path / "a.jsonl", [{"en": ENGLISH[80]}, {"en": ENGLISH[40]}]))])
    change_index(index, delete=["en:1"])
    folder, manifest = open_version(index)
    assert manifest.languages["en"].dropped == {"duplicate": 2, "deleted": 1}
    assert (folder / "en.dropped.tsv").read_text().splitlines()[1:] == [
        f"duplicate\ta.jsonl\t1\t1\t1\t{ENGLISH[80]}",
        f"duplicate\ta.jsonl\t2\t2\t\t{ENGLISH[40]}",
        f"deleted\t\t\ten:1\t\t{ENGLISH[40]}",
    ]


REFUSED = [
    ({}, "nothing to change"),
    ({"delete": ["en:99", "fr:1"]}, "has no sentence en:99, fr:1: an id is LANG:ID, in"),
    ({"replace": [{"id": "99", "en": "A dog."}]}, "has no sentence en:99"),
    ({"delete": ["5"]}, "has no sentence 5: an id is LANG:ID, in a table"),
    ({"replace": [{"id": "en:99", "en": "A dog."}]}, "no sentence en:99: an id is LANG:ID"),
    ({"replace": [{"id": "1", "en": "A dog."}], "delete": ["en:1"]}, "en:1: cannot both be"),
    ({"replace": [{"id": "1", "text": " ", "language": "en"}]}, "line 1: empty: use `index delete`"),
    ({"replace": [{"id": "1", "en": "A."}, {"en": "B."}]}, "line 2: no id: give each sentence the one"),
    ({"replace": [{"id": "1", "en": "A."}, {"id": "1", "en": "B."}]}, "line 2: en:1 is given twice"),
    ({"replace": [{"id": "1", "en": "A."}, {"id": "en:1", "en": "B."}]}, "line 2: en:1 is given twice"),
    (
        {"add": [{"id": "1", "en": "A cat."}], "own_ids": True},
        "there is a sentence en:1: use `index replace`",
    ),
    ({"add": [{"fr": "Un chien."}]}, "nothing in a language that tiny@1 knows"),
    ({"delete": [f"{code}:{n}" for code in ("en", "de") for n in range(30)]}, "no sentence would be left"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_cannot_be_done_is_refused_and_nothing_is_changed(
    index: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    before = current(index)
    for name in ("add", "replace"):
        if name in change:
            change = change | {name: [Source(jsonl(tmp_path / f"{name}.jsonl", change[name]))]}
    with pytest.raises(UsageError, match=message) as caught:
        change_index(index, **change)
    assert "\n" not in str(caught.value)
    assert (current(index), versions(index)) == (before, [before])


def test_a_file_is_added_once(index: Path, tmp_path: Path) -> None:
    more = jsonl(tmp_path / "more.jsonl", [{"en": "A new dog."}])
    change_index(index, add=[Source(more)])
    jsonl(more, [{"en": "Another dog, not the new one."}])
    with pytest.raises(CorpusError, match=r"there is a sentence en:more\.jsonl:1: use `index replace`"):
        change_index(index, add=[Source(more)])


def test_a_damaged_version_is_not_changed(index: Path) -> None:
    flip_middle(index / "versions" / current(index) / "en.faiss")
    with pytest.raises(DamagedError, match="faiss"):
        change_index(index, delete=["en:1"])


def test_a_version_published_in_the_meantime_is_not_lost(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from index.build import changes

    plan = changes.run_plan

    def late(*given: Any, **named: Any) -> object:  # noqa: ANN401
        monkeypatch.setattr(changes, "run_plan", plan)
        change_index(index, delete=["en:2"])
        return plan(*given, **named)

    monkeypatch.setattr(changes, "run_plan", late)
    with pytest.raises(OutdatedError, match="another version is served now: repeat"):
        change_index(index, delete=["en:1"])
    assert "en:1" in texts(index)


def test_a_change_whose_result_was_lost_is_not_made_twice(index: Path, tmp_path: Path) -> None:
    """Who was killed after publishing repeats the job, and finds the version."""
    rows = jsonl(tmp_path / "x.jsonl", [{"id": "new", "text": "Ein Pferd.", "language": "de"}])
    added, first = [Source(rows)], current(index)
    second = change_index(index, add=added, own_ids=True, base=first, job="a").version
    assert change_index(index, add=added, own_ids=True, base=first, job="a").version == second
    assert versions(index) == [first, second]
    with pytest.raises(OutdatedError, match="another version is served now"):
        change_index(index, delete=["en:1"], base=first, job="b")


def test_other_corpora_take_the_place_of_all(index: Path, tmp_path: Path) -> None:
    """With the encoder, rules and options of the version before, and once."""
    first = current(index)
    rows = jsonl(tmp_path / "x.jsonl", [{"id": "a", "en": "A dog runs.", "de": "Der Hund rennt."}])
    made = rebuild_index(index, [Source(rows)], job="a")
    assert texts(index) == {"en:a": "A dog runs.", "de:a": "Der Hund rennt."}
    before = open_version(index, first)[1]
    assert (made.model, made.cleaning, made.options) == (before.model, before.cleaning, before.options)
    assert rebuild_index(index, [Source(rows)], base=first, job="a").version == made.version
    assert rebuild_index(index, [Source(rows)]).version != made.version


def test_rolling_back_and_collecting(index: Path) -> None:
    first = current(index)
    with pytest.raises(BundleError, match=f"no version before {first}"):
        roll_back(index)
    second, third = (change_index(index, delete=[own]).version for own in ("en:1", "en:2"))
    assert roll_back(index) == current(index) == second
    assert len(texts(index)) == 59
    serve(index, third)
    flip_middle(index / "versions" / second / "de.faiss")
    with pytest.raises(DamagedError):
        roll_back(index)
    assert current(index) == third
    serve(index, first)
    (index / "work" / "left").mkdir()
    assert collect(index, keep=1) == [second, "left"]
    assert versions(index) == [first, third]
    with locked(index), pytest.raises(UsageError, match="another build is running"):
        collect(index)


def test_the_commands(index: Path, tmp_path: Path, says: Says, fails: Fails) -> None:
    def say(*words: str) -> str:
        told: str = says("index", *words).out
        return told

    folder, first = str(index), current(index)
    more = jsonl(tmp_path / "more.jsonl", [{"id": "x", "en": "A new dog."}])
    assert json.loads(say("add", folder, "--corpus", str(more), "--own-ids", "--json"))["base"] == first
    jsonl(more, [{"id": "x", "en": "A newer dog."}])
    assert "en: 31 sentences" in say("replace", folder, "--corpus", str(more))
    (tmp_path / "ids").write_text("en:x\nde:1\n")
    assert "1 deleted" in say("delete", folder, "--id", "de:2", "--ids", str(tmp_path / "ids"))
    assert {"de:1", "de:2"} & set(texts(index)) == set()
    assert first in say("rollback", folder, "--to", first)
    assert json.loads(say("gc", folder, "--keep", "1", "--json"))["versions"] == versions(index)
    assert "0 removed, 2 version(s) left" in say("gc", folder)
    assert "has no sentence en:none" in fails("index", "delete", folder, "--id", "en:none")


def test_a_replacement_in_another_language_is_told(index: Path, tmp_path: Path, says: Says) -> None:
    changed = [{"id": "de:1", "de": ENGLISH[41]}, {"id": "2", "de": GERMAN[41]}]
    given = f"--corpus={jsonl(tmp_path / 'x.jsonl', changed)}"
    told = [line for line in says("index", "replace", index, given).err.splitlines() if "looks like" in line]
    assert told == [f"{ENGLISH[41]!r} looks like English, not de"]


def test_a_quick_change_shares_the_large_files_and_is_found(index: Path, tmp_path: Path) -> None:
    before = open_version(index)
    rows = [{"id": "x", "en": "A zebra eats a newspaper.", "de": "Ein Zebra frisst eine Zeitung."}]
    more = jsonl(tmp_path / "more.jsonl", [*rows, {"id": "y", "en": ENGLISH[40]}])
    made = change_index(index, add=[Source(more)], own_ids=True, quick=True)
    folder, manifest = open_version(index)
    assert made == manifest
    for name in ("en.faiss", "de.words.faiss", "encoder/encoder.onnx"):
        assert (folder / name).samefile(before[0] / name)
    english = manifest.languages["en"]
    assert (english.sentences, english.dropped) == (31, {"duplicate": 1})
    assert english.segment == VectorSegment(rows=(30,))
    (answer,) = Translator.open(index).sentences([rows[0]["en"]], "en", "de", 1)[0]
    assert (answer.text, answer.match, answer.id) == (rows[0]["de"], "exact", "de:x")
    other = jsonl(tmp_path / "other.jsonl", [{"id": "x", "en": "A newspaper eats a zebra."}])
    with pytest.raises(CorpusError, match="there is a sentence en:x: use `index replace`"):
        change_index(index, add=[Source(other)], own_ids=True, quick=True)
    assert run(["index", "merge", str(index)]) == 0
    assert open_version(index)[1].languages["en"].segment is None
    assert run(["index", "merge", str(index)]) == 2
    assert texts(index)["de:x"] == rows[0]["de"]


@pytest.mark.parametrize("quick", [True, False])
def test_the_same_text_in_another_context_is_another_string(index: Path, tmp_path: Path, quick: bool) -> None:
    open_it = {"en": "Open the chosen file now.", "context": "menu"}
    kept = []
    for name, row in (("1", open_it), ("2", open_it), ("3", {**open_it, "context": "title"})):
        file = jsonl(tmp_path / f"{name}.jsonl", [row])
        kept.append(change_index(index, add=[Source(file)], quick=quick).languages["en"].sentences)
    assert kept == [31, 31, 32]


def test_a_text_too_long_to_keep_is_recorded_in_part(bundle: Bundle, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "en.txt", ["x" * 200_000, "A dog."])
    build_index(bundle, {"en": lines}, tmp_path / "index", cleaning=Cleaning(("language",)))
    more = jsonl(tmp_path / "more.jsonl", [{"en": "A cat."}])
    made = change_index(tmp_path / "index", add=[Source(more)], quick=True)
    assert (made.languages["en"].sentences, made.languages["en"].dropped) == (2, {"long": 1})


def test_changes_of_many_are_merged(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_change, "MOST_CHANGED", 3)
    for number in range(1, 5):
        made = change_index(index, delete=[f"en:{number}"], quick=True)
        assert (made.languages["en"].segment is None) == (number == 4)
    # A language that comes or goes is a build, too.
    made = change_index(index, add=[Source(jsonl(tmp_path / "pt.jsonl", [{"pt": "O gato."}]))], quick=True)
    assert list(made.languages) == ["en", "de", "pt"]


def test_versions_that_quick_changes_made_do_not_pile_up(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick_change, "KEPT_CHANGES", 2)
    built = current(index)
    made = [change_index(index, delete=[f"en:{number}"], quick=True).version for number in range(1, 5)]
    assert versions(index) == [built, *made]  # a job that is begun again may look for them
    served = Translator.open(index)
    monkeypatch.setattr(quick_change, "RECENT_SECONDS", 0)
    roll_back(index, made[0])
    last = change_index(index, delete=["de:1"], quick=True).version
    assert versions(index) == [built, made[3], last]
    assert [path.name for path in (index / "work").iterdir()] == ["LOCK"]
    assert served.sentences([ENGLISH[40 * 9]], "en", "de", 1)[0][0].text == GERMAN[40 * 9]
    roll_back(index)
    assert current(index) == made[3]


def test_a_disk_that_is_full_leaves_the_version_as_it_was(index: Path, tmp_path: Path) -> None:
    made = change_index(index, delete=["en:1"], quick=True).version
    more = jsonl(tmp_path / "more.jsonl", [{"id": "new", "en": "A new dog."}])
    for act in (partial(add_quickly, index, more), partial(roll_back, index)):
        with longest_file(5), pytest.raises(BundleError, match="free space or allow access"):
            act()
        assert current(index) == made
        assert not (index / "work" / "build").exists()
    add_quickly(index, more)
    assert current(index) != made


def add_quickly(index: Path, more: Path) -> None:
    change_index(index, add=[Source(more)], own_ids=True, quick=True, job="a")


def test_nothing_is_lost_when_a_quick_change_is_killed(made: Path, tmp_path: Path) -> None:
    rows = [{"id": "x", "en": "A zebra eats a newspaper.", "de": "Ein Zebra frisst eine Zeitung."}]
    more = jsonl(tmp_path / "more.jsonl", rows)
    made = shutil.copytree(made, tmp_path / "made")
    for number in range(quick_change.KEPT_CHANGES):
        superseded = change_index(made, delete=[f"en:{number}"], quick=True).version
        os.utime(made / "versions" / superseded, (0, 0))
    before = texts(made)
    after = before | {"en:x": rows[0]["en"], "de:x": rows[0]["de"]}

    # No file of an index is ever written to, so copies may share them.
    copy = partial(shutil.copytree, made, copy_function=os.link)
    whole = copy(tmp_path / "whole")
    code, total = run_apart(never, add_quickly, whole, more)
    assert (code, texts(whole)) == (0, after)
    folder, manifest = open_version(whole)
    assert total < sum((folder / name).stat().st_nlink == 1 for name in manifest.files) + 12
    found = set()
    for moment in (1, total // 2, *range(total - 6, total + 1)):
        index = copy(tmp_path / str(moment))
        assert run_apart(partial(eq, moment), add_quickly, index, more)[0] == -signal.SIGKILL
        served = texts(index)
        assert served in (before, after)
        found.add(served == after)
        add_quickly(index, more)
        assert texts(index) == after
        assert open_version(index, fresh=True)[1].languages["de"].sentences == 31
        assert set(versions(whole)) <= set(versions(index))
    assert found == {False, True}
    change_index(index, delete=["en:x"], quick=True)  # removes what the killed one could not
    assert len(versions(index)) == 1 + quick_change.KEPT_CHANGES
    assert [path.name for path in (index / "work").iterdir()] == ["LOCK"]


class Changes(RuleBasedStateMachine):
    """An index under changes, against a dictionary."""

    bundle: Bundle
    folder: Path
    quick = False
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        Changes.runs += 1
        self.place = self.folder / f"run{Changes.runs}"
        self.index, self.count = self.place / "index", 0
        build_index(self.bundle, make_corpus(self.place / "corpus", ("en", "de"), 4), self.index)
        self.model = texts(self.index)
        self.history = {current(self.index): self.model}

    def change(self, model: dict[str, str], **change: object) -> None:
        served = change_index(self.index, quick=self.quick, **change).version  # type: ignore[arg-type]
        self.model = self.history[served] = model

    def file(self, own: str, text: str) -> list[Source]:
        self.count += 1
        code, _, name = own.partition(":")
        row = {"language": code, "id": name, "text": text}
        return [Source(jsonl(self.place / f"{self.count}.jsonl", [row]))]

    @rule(code=st.sampled_from(["en", "de", "pt"]), number=st.integers(0, 300))
    def add(self, code: str, number: int) -> None:
        text, own = sentences(code)[number], f"{code}:x{self.count}"
        there = any(name.startswith(f"{code}:") and text == found for name, found in self.model.items())
        model = self.model if there else self.model | {own: text}
        self.change(dict(model), add=self.file(own, text), own_ids=True)

    @rule(place=st.integers(0, 1000), number=st.integers(0, 300))
    def replace(self, place: int, number: int) -> None:
        own = sorted(self.model)[place % len(self.model)]
        text = sentences(own[:2])[number]
        self.change(self.model | {own: text}, replace=self.file(own, text))

    @precondition(lambda self: len(self.model) > 1)
    @rule(place=st.integers(0, 1000))
    def delete(self, place: int) -> None:
        own = sorted(self.model)[place % len(self.model)]
        self.change({name: text for name, text in self.model.items() if name != own}, delete=[own])

    @rule(place=st.integers(0, 1000))
    def roll_back(self, place: int) -> None:
        chosen = versions(self.index)[place % len(versions(self.index))]
        assert roll_back(self.index, chosen) == chosen
        self.model = self.history[chosen]

    @rule()
    def merge(self) -> None:
        if any(entry.segment for entry in open_version(self.index)[1].languages.values()):
            self.change(self.model)

    @rule()
    def collect(self) -> None:
        collect(self.index, keep=3)

    @invariant()
    def the_index_holds_what_the_dictionary_does(self) -> None:
        assert texts(self.index) == self.model

    @invariant()
    def a_sentence_is_found_by_its_own_text(self) -> None:
        translator = Translator.open(self.index)
        own = sorted(self.model)[-1]
        index = translator.sentence_indexes[own[:2]]
        cosines, _ = index.vectors.search(translator.encode([self.model[own]]), 1)
        assert cosines[0, 0] == pytest.approx(1, abs=1e-5)

    @invariant()
    def what_evidence_needs_is_that_of_the_texts(self) -> None:
        folder, manifest = open_version(self.index)
        for code, entry in manifest.languages.items():
            table = read_table(folder / f"{code}.arrow", SENTENCE_COLUMNS, entry.sentences)
            words = read_table(folder / f"{code}.words.arrow", WORD_COLUMNS, entry.words)
            wanted = Features.of([table.column("text").to_pylist()], words.column("word").to_pylist(), code)
            for name, values in Features.open(folder, code, entry.sentences).arrays(code).items():
                np.testing.assert_array_equal(values, wanted.arrays(code)[name])

    @invariant()
    def no_version_changes(self) -> None:
        for version in versions(self.index):
            manifest = open_version(self.index, version)[1]
            listed = entries_of(self.index / "versions" / version)
            assert {name: listed[name] for name in manifest.files} == manifest.files


@pytest.mark.parametrize("quick", [False, True])
def test_changes_are_what_a_dictionary_says(bundle: Bundle, tmp_path: Path, quick: bool) -> None:
    Changes.bundle, Changes.folder, Changes.quick = bundle, tmp_path, quick
    steps, unchecked = 12 if quick else 6, list(HealthCheck)
    chosen = settings(
        max_examples=1, stateful_step_count=steps, database=None, suppress_health_check=unchecked
    )
    run_state_machine_as_test(Changes, settings=chosen)  # type: ignore[no-untyped-call]
