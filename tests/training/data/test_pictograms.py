import shutil
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.suites.pictograms import part_of, read_names
from index.errors import DataError
from training.data.captions import load_split
from training.data.dealing import disjoint_drawings
from training.data.pictograms import is_drawing, load_drawings, open_artists
from training.data.settings import DataSettings
from training.smoke.drawings import ARTISTS, DRAWN_OF_EIGHT, concepts

LANGUAGES = ("en", "de", "pt")
LEARNED = [code for code in concepts() if part_of(code) == "train"]


def settings(*languages: str, **more: object) -> DataSettings:
    return DataSettings.model_validate(
        {"languages": languages or LANGUAGES, "sets": ["photos", "pictograms"], **more}
    )


def code_of(drawing: str) -> str:
    return drawing.split("/")[-1].removesuffix(".png")


def seen_by(dealt: dict[str, str]) -> dict[str, list[str]]:
    """Concept -> the languages of its drawings."""
    found = defaultdict(list)
    for drawing, language in dealt.items():
        found[code_of(drawing)].append(language)
    return found


@pytest.fixture
def copy(data: Path, tmp_path: Path) -> Path:
    """Pictograms that may be changed."""
    shutil.copytree(data / "pictograms", tmp_path / "pictograms")
    return tmp_path


def test_drawings_are_named_after_artist_and_concept(data: Path) -> None:
    archives = open_artists(data, 16)
    assert [archive.prefix for archive in archives] == [f"pictograms/{artist}/" for artist in sorted(ARTISTS)]
    counts = [len(archive.names) for archive in archives]
    assert counts == [len(concepts())] * 2 + [len(concepts()) * DRAWN_OF_EIGHT // (DRAWN_OF_EIGHT + 1)]
    for archive in archives:
        drawing = archive[f"{archive.prefix}{next(iter(concepts()))}.png"]
        assert drawing.shape == (16, 16, 3)
        assert (drawing[0, 0] == 255).all(), "transparent is white"
        assert drawing[8, 8, 0] > 150 > drawing[8, 8, 1], "a red ball"


def test_a_drawing_belongs_to_one_language_and_a_concept_to_as_many_as_drew_it(data: Path) -> None:
    owners, texts = load_drawings(data, settings())
    assert all(len(codes) == 1 for _, codes in owners)
    dealt = {name: codes[0] for name, codes in owners}
    assert sorted(dealt) == sorted(n for a in open_artists(data, 1) for n in a.names if code_of(n) in LEARNED)
    for languages in seen_by(dealt).values():
        assert len(set(languages)) == len(languages), "three artists at most, three languages"
    shares = Counter(dealt.values())
    assert max(shares.values()) - min(shares.values()) <= 1
    named = {code: read_names(data / "pictograms" / "names" / f"{code}.tsv") for code in LANGUAGES}
    assert all(code_of(name) in named[language] for name, language in dealt.items())
    assert {language: set(found) for language, found in texts.items()} == {
        language: {name for name in dealt if code_of(name) in named[language]} for language in LANGUAGES
    }


def test_captions_are_the_name_and_the_keywords(data: Path) -> None:
    _, texts = load_drawings(data, settings())
    names = read_names(data / "pictograms" / "names" / "en.tsv")
    for drawing, captions in texts["en"].items():
        assert captions == names[code_of(drawing)].captions
    assert any(len(captions) == 2 for captions in texts["en"].values())


@given(
    st.dictionaries(st.sampled_from([f"{n:x}" for n in range(40)]), st.integers(1, 6), min_size=1),
    st.integers(1, 9),
    st.data(),
)
def test_turns_are_fair(drawn: dict[str, int], count: int, draws: st.DataObject) -> None:
    """Whatever artists drew and languages name: no language twice at a concept while another
    that names it has had none of it."""
    drawings = [f"a{artist}/{code}.png" for code, artists in drawn.items() for artist in range(artists)]
    names = {f"l{number}": draws.draw(st.sets(st.sampled_from(sorted(drawn)))) for number in range(count)}
    texts = {code: {name: [name] for name in drawings if code_of(name) in of} for code, of in names.items()}
    dealt = disjoint_drawings(drawings, texts, settings())
    seen = seen_by({name: code for name, (code,) in dealt})
    for code, artists in drawn.items():
        naming = [language for language, found in names.items() if code in found]
        assert len(seen[code]) == (artists if naming else 0)
        assert set(seen[code]) <= set(naming)
        assert len(set(seen[code])) == min(artists, len(naming))
    assert disjoint_drawings(drawings[::-1], texts, settings()) == dealt, "whatever order they are found in"


def test_shared_drawings_keep_every_language(data: Path) -> None:
    owners, texts = load_drawings(data, settings(pictures="shared"))
    assert {codes for _, codes in owners} == {LANGUAGES}
    assert all(set(found) == {name for name, _ in owners} for found in texts.values())


def test_training_has_photographs_then_drawings_and_validation_photographs_alone(data: Path) -> None:
    plain = load_split(data, "train", settings(sets=["photos"]))
    both = load_split(data, "train", settings())
    count = len(plain.pictures)
    assert both.pictures[:count] == plain.pictures
    assert both.captions[: len(plain.captions)] == plain.captions
    assert not any(map(is_drawing, plain.pictures))
    assert all(map(is_drawing, both.pictures[count:]))
    assert {code_of(name) for name in both.pictures[count:]} == set(LEARNED)
    assert load_split(data, "dev", settings()) == load_split(data, "dev", settings(sets=["photos"]))


def test_a_language_without_names_has_photographs_alone(copy: Path) -> None:
    (copy / "pictograms" / "names" / "pt.tsv").unlink()
    owners, texts = load_drawings(copy, settings())
    assert set(texts) == {"en", "de"}
    assert {codes for _, codes in owners} == {("en",), ("de",)}
    with pytest.raises(DataError, match=r"names has none of pt: best-without-mining is"):
        load_drawings(copy, settings("pt"))


def test_missing_archives_are_named(copy: Path) -> None:
    for artist in ARTISTS:
        (copy / "pictograms" / f"{artist}.tar").unlink()
    with pytest.raises(DataError, match=r"pictograms has no ARTIST\.tar: see docs/data\.md"):
        load_drawings(copy, settings())


def test_without_photographs_drawings_train_and_validate_and_none_is_for_both(data: Path) -> None:
    alone = settings(sets=["pictograms"], pictures="shared")
    train, dev = (load_split(data, split, alone) for split in ("train", "dev"))
    for part, split in (("train", train), ("dev", dev)):
        assert split.pictures
        assert all(is_drawing(name) for name in split.pictures)
        assert {part_of(code_of(name)) for name in split.pictures} == {part}
        assert split.languages == tuple(sorted(LANGUAGES))
