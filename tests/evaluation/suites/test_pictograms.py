from collections import Counter
from pathlib import Path

import pytest

from evaluation.suites.pictograms import Named, held_out_names, is_flag, part_of, read_names
from evaluation.suites.translation import pictograms
from index.encoder.bundle import Bundle
from index.encoder.text_encoder import TextEncoder
from index.errors import DataError
from tests.bundles import LANGUAGES, sentences
from tests.files import write_lines

CODES = [f"{number:x}" for number in range(0x1F400, 0x1F400 + 150)]
HELD = [code for code in CODES if part_of(code) == "test"]
FLAGS = [f"1f1e6-{number:x}" for number in range(0x1F1E6, 0x1F200)]


def write(folder: Path, named: dict[str, list[str]]) -> Path:
    """A data folder with the lines of pictograms/names/LANG.tsv."""
    for language, lines in named.items():
        write_lines(folder / "pictograms" / "names" / f"{language}.tsv", lines)
    return folder


def test_names_and_keywords_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"en": ["1f6a4\tspeedboat\tboat|speedboat", "1f41f\tfish\tfish", "1f433\twhale\t"]})
    found = read_names(tmp_path / "pictograms" / "names" / "en.tsv")
    assert found["1f6a4"] == Named("speedboat", ("boat", "speedboat"))
    assert found["1f6a4"].captions == ["speedboat", "boat, speedboat"]
    assert found["1f41f"].captions == ["fish"]
    assert found["1f433"] == Named("whale", ())
    assert found["1f433"].captions == ["whale"]


@pytest.mark.parametrize("line", ["1f41f\t\tfish", "\tfish\tfish", "1f41f\tfish"])
def test_a_line_without_a_name_is_named(tmp_path: Path, line: str) -> None:
    write(tmp_path, {"en": ["1f433\twhale\t", line]})
    with pytest.raises(DataError, match=r"en\.tsv line 2: \d columns, give code points TAB name"):
        read_names(tmp_path / "pictograms" / "names" / "en.tsv")


def test_eight_tenths_are_learned_from() -> None:
    many = [f"{number:x}" for number in range(3000)]
    shares = Counter(map(part_of, many))
    assert 0.77 < shares["train"] / 3000 < 0.83
    assert min(shares["dev"], shares["test"]) > 0.08 * 3000


@pytest.mark.parametrize("thing", [f"{number:x}" for number in range(0x1F680, 0x1F690)])
def test_variants_are_in_one_part(thing: str) -> None:
    same = [thing, f"1f469-200d-{thing}", f"1f468-200d-{thing}", f"1f9d1-200d-{thing}-200d-27a1-fe0f"]
    assert len({part_of(code) for code in same}) == 1
    assert {part_of(code) for code in ("1f468", "1f469", "2640")} <= {"train", "dev", "test"}


def test_flags_are_those_of_countries_and_regions() -> None:
    assert all(map(is_flag, [*FLAGS, "1f3f4-e0067-e0062-e0065-e006e-e0067-e007f"]))
    assert not any(map(is_flag, [*CODES, "1f3f4", "1f3f4-200d-2620", "1f3f3-200d-1f308"]))


def test_only_held_out_concepts_named_by_all_count(tmp_path: Path) -> None:
    lines = [f"{code}\tname {code}\t" for code in CODES]
    without = [line for line in lines if not line.startswith(HELD[0])]
    write(tmp_path, {"en": lines, "de": without, "fr": lines[:1]})
    codes, names = held_out_names(tmp_path, ["en", "de"])
    assert codes == sorted(HELD)[1:]
    assert names["en"] == names["de"] == [f"name {code}" for code in codes]
    with pytest.raises(DataError, match=r"of the concepts held out .* de, en, fr: choose fewer languages"):
        held_out_names(tmp_path, ["en", "de", "fr"])


def test_the_suite_measures_names_with_and_without_flags(bundle: Bundle, tmp_path: Path) -> None:
    """Names that are sentences of the tiny encoder, of things and of flags."""
    rows = {code: zip(CODES + FLAGS, sentences(code), strict=False) for code in LANGUAGES}
    named = {code: [f"{own}\t{text}\t" for own, text in of_code] for code, of_code in rows.items()}
    data = write(tmp_path, named)
    every, some = pictograms(TextEncoder(bundle), data, ["en", "de", "zh"])
    assert (every.n, some.n) == (len(HELD) + sum(part_of(code) == "test" for code in FLAGS), len(HELD))
    assert every.languages == ("de", "en", "zh")
    assert len(every.pairs) == len(some.pairs) == 6
    assert f"R@10 {1000 / some.n:.1f}" in some.note
    assert some.means["all"]["csls_r1"] > 3 * 100 / some.n, "the tiny encoder knows these sentences"
