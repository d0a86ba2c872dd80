"""From an aligned file to answers that are its own targets, and back to a file."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.answers.answer import Answers, Differs, Original
from index.answers.memory import MIN_SIMILARITY, Comparison, Likeness
from index.answers.translator import Translator
from index.build.build_index import build_index
from index.commands.export import export_index
from index.confidence.models import AGREES
from index.encoder.bundle import Bundle, open_bundle
from index.formats.registry import Source
from index.storage.groups import Groups, write_groups
from index.storage.options import Cleaning
from index.storage.versions import open_version
from index.text.normalisation import clean
from tests.bundles import sentences
from tests.files import index_of_table, jsonl

ENGLISH, GERMAN = sentences("en")[::30], sentences("de")[::30]


@pytest.fixture(scope="module")
def memory(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of a table whose second half is aligned wrongly, so that its targets are not the nearest."""
    folder = tmp_path_factory.mktemp("memory")
    half = len(ENGLISH) // 2
    targets = GERMAN[:half] + GERMAN[half:][::-1]
    rows = [f"{n}\t{one}\t{two}\tANNA" for n, (one, two) in enumerate(zip(ENGLISH, targets, strict=True))]
    extra = f"x\t{ENGLISH[0]}\tEin zweites Ziel.\tBEN"
    (folder / "m.tsv").write_text("\n".join(["id\ten\tde\tby", *rows, extra]) + "\n", "utf-8")
    (folder / "more.txt").write_text("Der vogel schläft und das kind spielt.\n", "utf-8")
    sources = [Source(folder / "m.tsv"), Source(folder / "more.txt", "de")]
    build_index(bundle, sources, folder / "index", cleaning=Cleaning(("near", "language")))
    return folder / "index"


def ask(index: Path, text: str, k: int = 3) -> Answers:
    return Translator.open(index).sentences([text], "en", "de", k)[0]


def test_a_source_of_the_memory_has_its_own_target_first(memory: Path) -> None:
    first, *others = ask(memory, ENGLISH[-1])
    assert first.text == GERMAN[len(ENGLISH) // 2]
    assert (first.match, first.similarity, first.differs) == ("exact", 1, Differs())
    assert first.original == Original(text=ENGLISH[-1], id=f"en:{len(ENGLISH) - 1}")
    assert (first.confidence, first.metadata["by"], first.metadata["file"]) == (1.0, "ANNA", "m.tsv")
    # The corpus says that they translate other sentences, which the asker reads.
    assert [match.match for match in others] == ["near", "near"]
    assert all(match.original and match.original.text in ENGLISH[:-1] for match in others)
    assert len({match.id for match in (first, *others)}) == 3


def test_nearly_the_source_says_how_nearly(memory: Path) -> None:
    first = ask(memory, ENGLISH[-1].replace(".", "!!"))[0]
    assert first.text == GERMAN[len(ENGLISH) // 2]
    assert first.match == "memory"
    assert first.original == Original(text=ENGLISH[-1], id=f"en:{len(ENGLISH) - 1}")
    assert first.similarity is not None
    assert 0.85 <= first.confidence == first.similarity < 1


@pytest.fixture(scope="module")
def strings(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of strings as an interface has them."""
    rows = [
        ("en", "de"),
        ("Delete file", "Datei löschen"),
        ("Press Enter to continue.", "Weiter mit der Eingabetaste."),
        ("Page 3 of 10", "Seite 3 von 10"),
        ("Close window", "Fenster schließen"),
        ("Really?!", "Wirklich?!"),
        ("Copy 3 files into two folders", "3 Dateien in zwei Ordner kopieren"),
    ]
    path = tmp_path_factory.mktemp("strings") / "ui.tsv"
    return index_of_table(bundle, path, rows, cleaning=Cleaning(("language",)))


@pytest.mark.parametrize(
    ("question", "answer", "similarity", "penalties"),
    [
        ("Delete the file", "Datei löschen", 11 / 15, ()),
        ("Press <b>Enter</b> to continue.", "Weiter mit der Eingabetaste.", 0.98, ("tags",)),
        ("Page 5 of 12", "Seite 5 von 12", 0.98, ("numbers",)),
        ("CLOSE WINDOW", "Fenster schließen", 0.99, ("case",)),
        ("close window!", "Fenster schließen", 0.98, ("case", "punctuation")),
        ("Really?", "Wirklich?!", 0.99, ("punctuation",)),
    ],
)
def test_what_is_not_compared_is_a_penalty(
    strings: Path, question: str, answer: str, similarity: float, penalties: tuple[str, ...]
) -> None:
    answers = ask(strings, question, 5)
    (memory,) = [match for match in answers if match.match == "memory"]
    assert (memory.text, memory.penalties) == (answer, penalties)
    assert memory.similarity == round(similarity, 4)
    assert memory.confidence == max(AGREES, memory.similarity)
    confidences = [match.confidence for match in answers]
    assert confidences == sorted(confidences, reverse=True)


def test_figures_are_put_into_an_answer_and_numbers_in_words_are_not(strings: Path) -> None:
    first, *_ = ask(strings, "Copy 5 files into two folders")
    assert (first.match, first.text) == ("memory", "5 Dateien in zwei Ordner kopieren")
    assert ask(strings, "Copy 5 files into ten folders")[0].match == "near"
    assert ask(strings, "Copy 3 files into ten folders")[0].match == "near"


@pytest.mark.parametrize("question", ["?!", "...", "Remove everything"])
def test_what_shares_little_is_no_memory(strings: Path, question: str) -> None:
    assert {match.similarity for match in ask(strings, question)} <= {None}


@given(st.text(max_size=30), st.text(max_size=30))
def test_likeness_is_the_same_in_both_directions(one: str, two: str) -> None:
    one, two = clean(one), clean(two)
    there, back = Comparison(one).with_text(two), Comparison(two).with_text(one)
    assert there == back
    assert Comparison(one).with_text(one) == Likeness(1.0)
    if one != two and there is not None:
        assert MIN_SIMILARITY <= there.similarity < 1


def test_all_targets_of_a_source_come_first(memory: Path) -> None:
    found = ask(memory, ENGLISH[0])
    assert {match.text for match in found[:2]} == {GERMAN[0], "Ein zweites Ziel."}
    assert [match.match for match in found] == ["exact", "exact", "near"]
    assert found[0].score >= found[1].score
    assert len(ask(memory, ENGLISH[0], k=1)) == 1


@pytest.mark.parametrize("suffix", ["tsv", "tmx"])
def test_an_export_builds_the_same_memory_again(
    memory: Path, bundle: Bundle, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"x.{suffix}"
    assert export_index(memory, out) == 2 * len(ENGLISH) + 3
    build_index(bundle, [Source(out)], tmp_path / "index", cleaning=Cleaning(("near", "language")))
    for text in (ENGLISH[-1], ENGLISH[0]):
        old, new = ask(memory, text), ask(tmp_path / "index", text)
        assert [match.text for match in old] == [match.text for match in new]
        assert new[0].metadata["by"] == old[0].metadata["by"]
    before, after = (open_version(index)[1].languages for index in (memory, tmp_path / "index"))
    assert {c: e.sentences for c, e in before.items()} == {c: e.sentences for c, e in after.items()}


def test_ids_are_those_of_the_file_and_unique(bundle: Bundle, tmp_path: Path) -> None:
    rows = [{"id": own, "text": text} for own, text in zip("xxy", ENGLISH, strict=False)]
    jsonl(tmp_path / "a.jsonl", rows)
    (tmp_path / "b.txt").write_text(ENGLISH[9] + "\n")
    build_index(bundle, [Source(tmp_path / "a.jsonl", "en")], tmp_path / "one")
    both = [Source(tmp_path / "a.jsonl", "en"), Source(tmp_path / "b.txt", "en")]
    build_index(bundle, both, tmp_path / "two")
    indexes = [Translator.open(tmp_path / name).sentence_indexes["en"] for name in ("one", "two")]
    ids = [[index.sentence(row).id for row in range(len(index))] for index in indexes]
    assert ids[0] == ["en:x", "en:x#2", "en:y"]
    assert ids[1] == ["en:a.jsonl:x", "en:a.jsonl:x#2", "en:a.jsonl:y", "en:b.txt:1"]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5)), max_size=40)
)
def test_groups_are_a_relation(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "groups.arrow"
    links = write_groups(path, [row for row, _ in pairs], [group for _, group in pairs])
    groups = Groups.open(path, links)
    assert links == len(groups) == len(set(pairs))
    assert list(groups) == sorted((group, row) for row, group in set(pairs))
    for row in range(10):
        own = groups.of(row)
        assert own.tolist() == sorted({group for other, group in pairs if other == row})
        assert groups.rows(own) == sorted({other for other, group in pairs if group in set(own.tolist())})
    assert groups.rows(np.zeros(0, np.int64)) == []


OPEN = Path(__file__).parents[3] / "models" / "open"
WORDS_UNKNOWN = {  # of languages whose sentences are not compared word by word: approved, and the opposite
    "pl": ("Proszę wziąć tabletkę przed posiłkiem.", "Proszę wziąć tabletkę po posiłku."),
    "ja": ("お子さんに牛乳を飲ませないでください。", "お子さんに牛乳を飲ませてください。"),
    "vi": ("Kết quả xét nghiệm là âm tính.", "Kết quả xét nghiệm là dương tính."),
    "ko": ("오른쪽 다리를 들어 주세요.", "왼쪽 다리를 들어 주세요."),
}


def test_other_words_are_near_where_none_are_compared(few_probes: None, tmp_path: Path) -> None:
    rows = [(*WORDS_UNKNOWN, "qaa"), (*(approved for approved, _ in WORDS_UNKNOWN.values()), "Zo")]
    rows += [("To jest klucz.", "これは鍵です。", "Đây là chìa khóa.", "이것은 열쇠입니다.", "Ka")]
    translator = Translator.open(index_of_table(open_bundle(OPEN), tmp_path / "phrases.tsv", rows))
    for code, (approved, opposite) in WORDS_UNKNOWN.items():
        asked = [approved, approved.rstrip(".。").lower(), opposite]
        exact, typed, other = (row[0] for row in translator.sentences(asked, code, "qaa"))
        assert [exact.match, typed.match, other.match] == ["exact", "memory", "near"]
        assert other.gloss == approved
        assert other.text == "Zo"
