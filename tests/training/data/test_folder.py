from pathlib import Path

import pytest

from index.errors import DataError
from tests.files import write_lines, write_picture_set
from training.data.captions import Caption, CaptionedPictures
from training.data.folder import data_sha256, joined, load_texts, texts_by_name
from training.data.settings import DataSettings

CAPTIONS = CaptionedPictures(("a.jpg",), (Caption(0, "en", "a dog"),))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two files that line up, one line twice."""
    for language in ("de", "en"):
        write_lines(tmp_path / "text" / f"lined.{language}.txt", (f"{language} {i}" for i in [*range(50), 7]))
    return tmp_path


def test_each_language_has_its_distinct_sentences(data: Path) -> None:
    found = load_texts(data, "lined", ["en", "zh", "de"], 0)
    assert list(found) == ["en", "de"], "in the recipe's order, without those that have no file"
    assert sorted(found["en"]) == sorted(f"en {i}" for i in range(50))


def test_what_lined_up_no_longer_does(data: Path) -> None:
    found = load_texts(data, "lined", ["en", "de"], 0)
    together = [a.split()[1] == b.split()[1] for a, b in zip(found["en"], found["de"], strict=True)]
    assert sum(together) < 10, "about one of 50 by chance"


def test_no_file_at_all_is_refused(data: Path) -> None:
    with pytest.raises(DataError, match=r"no other\.LANG\.txt for any of en, de, and no folder other with"):
        load_texts(data, "other", ["en", "de"], 0)


def test_training_captions_of_a_picture_set_are_a_text(data: Path) -> None:
    english = [("a.jpg", "a dog"), ("a.jpg", "a dog"), ("a.jpg", "a hound"), ("b.jpg", "a cat")]
    captions = {"en": [(*row, "human") for row in english], "pt": [("b.jpg", "um gato", "human")]}
    write_picture_set(data / "pictures", {"a.jpg": "train", "b.jpg": "test"}, captions)
    found = load_texts(data, "pictures", ["en", "de", "pt"], 0)
    assert {code: sorted(lines) for code, lines in found.items()} == {"en": ["a dog", "a hound"]}


def test_a_folder_is_a_text(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = data / "corpora" / "mine"
    folder.mkdir(parents=True)
    (folder / "en.txt").write_text("one\ntwo\n", "utf-8")
    found = load_texts(data, "corpora/mine", ["en", "de"], 0)
    assert {code: sorted(lines) for code, lines in found.items()} == {"en": ["one", "two"]}
    monkeypatch.chdir(data / "corpora")
    with pytest.raises(DataError, match="no folder mine"):
        load_texts(data, "mine", ["en"], 0)
    (data / "lined").mkdir()
    assert load_texts(data, "lined", ["de"], 0).keys() == {"de"}, "text/lined.de.txt comes before a folder"


def test_the_digest_knows_the_sentences() -> None:
    plain = data_sha256(CAPTIONS, {})
    assert plain == CAPTIONS.sha256
    some = [data_sha256(CAPTIONS, {"en": lines}) for lines in (["a"], ["b"], ["a", "b"])]
    assert len({plain, *some}) == 4


def test_texts_of_several_names_follow_one_another(data: Path) -> None:
    (data / "text" / "more.en.txt").write_text("en 1\nen 100\n", "utf-8")
    texts = texts_by_name(data, DataSettings(languages=("en", "de"), texts=("lined", "more")), 0)
    assert {name: list(of_name) for name, of_name in texts.items()} == {"lined": ["en", "de"], "more": ["en"]}
    together = joined(texts)
    assert together["en"] == [*texts["lined"]["en"], *texts["more"]["en"]]
    assert together["de"] == texts["lined"]["de"]
