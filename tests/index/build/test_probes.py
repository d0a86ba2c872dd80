"""The texts that a build asks of an index: there in a checkout, disjoint from what is held out."""

import pytest

from index.build.probes import PROBE_FOLDER, SAYINGS, first_scenes, other_kinds, shortened

LANGUAGES = sorted(path.stem for path in (PROBE_FOLDER / "elsewhere").glob("*.tsv"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_third_of_the_text_of_other_kinds_is_held_out(language: str) -> None:
    fitted, held_out = other_kinds(language), other_kinds(language, held_out=True)
    assert not set(fitted) & set(held_out)
    assert len(held_out) >= 100
    assert abs(len(held_out) - len(fitted) / 2) <= 1
    assert {kind for kind, _ in held_out} == {kind for kind, _ in fitted}
    assert len(first_scenes(language)) == SAYINGS.start


def test_a_word_is_left_out_of_each_text() -> None:
    texts = ["a dog runs on the beach", "两只猫在沙发上", "stop", "x"]
    short = shortened(texts)
    assert [len(text.split(" ")) for text in short] == [5, 1, 1, 1]
    assert set(short[0].split(" ")) < set(texts[0].split(" "))
    assert (len(short[1]), len(short[2]), short[3]) == (len(texts[1]) - 1, len(texts[2]) - 1, "x")
    assert short == shortened(texts), "the same for every build"
