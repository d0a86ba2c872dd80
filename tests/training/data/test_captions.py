import hashlib
from collections import Counter
from pathlib import Path

import pytest

from index.errors import DataError
from tests.files import write_picture_set
from training.data.captions import CaptionedPictures, load_split, shuffled
from training.data.settings import DataSettings

Row = tuple[str, str, str]  # picture, caption, how it was made
HUMAN, TRANSLATED = "human", "human translation of English"
NAMES = [f"p{number:02}.jpg" for number in range(20)]


def write(folder: Path, captions: dict[str, list[Row]], splits: dict[str, str] | None = None) -> Path:
    """A data folder with captions and splits, without pictures."""
    write_picture_set(folder / "photos", splits or dict.fromkeys(NAMES, "train"), captions)
    return folder


def full(language: str, without: tuple[str, ...] = (), each: int = 2) -> list[Row]:
    return [(n, f"{language} {n} {i}", HUMAN) for n in NAMES if n not in without for i in range(each)]


def settings(*languages: str, **more: object) -> DataSettings:
    return DataSettings.model_validate({"languages": languages, **more})


def file_of(picture: str) -> str:
    """A picture of photos/, as the set's files name it."""
    assert picture.startswith("photos/")
    return picture.removeprefix("photos/")


def seen_with(data: CaptionedPictures) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {file_of(name): set() for name in data.pictures}
    for caption in data.captions:
        found[file_of(data.pictures[caption.picture])].add(caption.language)
    return found


def test_disjoint_gives_picture_i_of_the_hashed_order_to_language_i_mod_m(tmp_path: Path) -> None:
    """Of those that have captions in every language."""
    write(tmp_path, {"en": full("en", without=("p03.jpg",)), "de": full("de", without=("p05.jpg",))})
    data = load_split(tmp_path, "train", settings("en", "de"))
    pool = [name for name in NAMES if name not in ("p03.jpg", "p05.jpg")]
    order = sorted(pool, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    assert tuple(map(file_of, data.pictures)) == tuple(order)
    assert seen_with(data) == {name: {("en", "de")[i % 2]} for i, name in enumerate(order)}
    texts = {caption.text for caption in data.captions if caption.picture == 5}
    assert texts == {f"de {order[5]} 0", f"de {order[5]} 1"}


def test_shared_keeps_every_picture_with_any_caption(tmp_path: Path) -> None:
    rows = {
        "en": full("en", without=("p03.jpg", "p04.jpg")),
        "de": full("de", without=("p04.jpg", "p05.jpg")),
    }
    write(tmp_path, rows)
    data = load_split(tmp_path, "train", settings("en", "de", pictures="shared"))
    found = seen_with(data)
    assert set(found) == set(NAMES) - {"p04.jpg"}
    assert found["p03.jpg"] == {"de"}
    assert found["p05.jpg"] == {"en"}
    assert found["p06.jpg"] == {"en", "de"}
    assert len(data.captions) == 2 * 2 * 18


def test_common_has_as_many_captions_of_a_language_as_disjoint_all_of_the_same_pictures(
    tmp_path: Path,
) -> None:
    codes = ("en", "de", "pt", "fr")
    write(tmp_path, {language: full(language) for language in codes})
    apart, common = (
        load_split(tmp_path, "train", settings(*codes, pictures=pictures))
        for pictures in ("disjoint", "common")
    )
    counts = [Counter(caption.language for caption in data.captions) for data in (apart, common)]
    assert counts[0] == counts[1] == dict.fromkeys(codes, 10)
    assert seen_with(common) == {file_of(name): set(codes) for name in apart.pictures[::4]}


@pytest.mark.parametrize("pictures", ["disjoint", "shared"])
def test_only_the_kinds_asked_for_count(tmp_path: Path, pictures: str) -> None:
    german = [(name, f"de {name}", (HUMAN, TRANSLATED, "machine")[i % 3]) for i, name in enumerate(NAMES)]
    write(tmp_path, {"en": full("en"), "de": german})

    def texts(*kinds: str) -> set[str]:
        data = load_split(tmp_path, "train", settings("de", pictures=pictures, caption_kinds=kinds))
        return {caption.text for caption in data.captions}

    assert texts(HUMAN) == {f"de {name}" for name in NAMES[0::3]}
    assert texts(HUMAN, "machine") == {f"de {name}" for i, name in enumerate(NAMES) if i % 3 != 1}
    assert texts() == {f"de {name}" for name in NAMES}
    both = load_split(tmp_path, "train", settings("en", "de", caption_kinds=(HUMAN,)))
    assert set(map(file_of, both.pictures)) == set(NAMES[0::3]), (
        "a language counts only with a caption of such a kind"
    )


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    half = len(NAMES) // 2
    write(tmp_path, {"en": full("en")[:half], "de": full("de")[half:]})
    with pytest.raises(DataError, match="no picture has captions in the recipe's languages and kinds"):
        load_split(tmp_path, "train", settings("en", "de"))
    assert load_split(tmp_path, "train", settings("en", "de", pictures="shared")).pictures
    with pytest.raises(DataError, match=r"no captions made by 'machine' in captions/en\.tsv of photos"):
        load_split(tmp_path, "train", settings("en", caption_kinds=("machine",)))


@pytest.mark.parametrize(("missing", "named"), [("captions/de.tsv", "de.tsv"), ("splits.tsv", "splits.tsv")])
def test_a_missing_file_is_named(tmp_path: Path, missing: str, named: str) -> None:
    write(tmp_path, {language: full(language) for language in ("en", "de")})
    (tmp_path / "photos" / missing).unlink()
    with pytest.raises(DataError, match=named):
        load_split(tmp_path, "train", settings("en", "de"))


def test_the_hash_changes_with_a_name_a_language_or_a_text(tmp_path: Path) -> None:
    rows = full("en")
    hashes = set()
    for number, captions in enumerate(
        [
            {"en": rows},
            {"de": rows},
            {"en": [*rows[:-1], (rows[-1][0], "Another text.", HUMAN)]},
            {"en": [(NAMES[1] if name == NAMES[0] else name, text, kind) for name, text, kind in rows]},
        ]
    ):
        folder = write(tmp_path / str(number), captions)
        data = load_split(folder, "train", settings(*captions, pictures="shared"))
        hashes.add(data.sha256)
        assert load_split(folder, "train", settings(*captions, pictures="shared")).sha256 == data.sha256
    assert len(hashes) == 4


def test_the_control_moves_each_language_on_its_own(tmp_path: Path) -> None:
    write(tmp_path, {language: full(language) for language in ("en", "de")})
    data = load_split(tmp_path, "train", settings("en", "de", pictures="shared"))

    moved = [caption.picture for caption in shuffled(data, seed=3).captions]

    places: dict[str, dict[int, int]] = {"en": {}, "de": {}}
    for caption, picture in zip(data.captions, moved, strict=True):
        assert places[caption.language].setdefault(caption.picture, picture) == picture
    assert set(places["en"].values()) == set(places["en"])
    together = [picture for picture in places["en"] if places["en"][picture] == places["de"][picture]]
    assert len(together) < 5
