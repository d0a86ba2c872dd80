from xml.etree import ElementTree

import numpy as np

from evaluation.reports.figures import NUMBERED_LANGUAGES, bars, by_family, heatmap

TEXT = "{http://www.w3.org/2000/svg}text"
CODES = ["uk", "en", "pt", "cs", "de"]


def labels(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(TEXT)]


def matrix(codes: list[str]) -> np.ndarray:
    values = np.add.outer(np.arange(len(codes)) * 10.0, np.arange(len(codes)))
    np.fill_diagonal(values, np.nan)
    return values


def test_languages_are_sorted_by_family() -> None:
    assert by_family(CODES) == ["de", "en", "pt", "cs", "uk"]


def test_a_heatmap_shows_the_values_in_the_order_of_families() -> None:
    found = labels(heatmap(CODES, matrix(CODES)))
    cells = [label for label in found if "." in label]
    # Row de (4 of the input), columns en pt cs uk (1, 2, 3, 0).
    assert cells[:4] == ["41.0", "42.0", "43.0", "40.0"]
    assert len(cells) == 20
    assert [label for label in found if label in ("Germanic", "Romance", "Slavic")] == [
        "Germanic", "Romance", "Slavic",
    ]  # fmt: skip


def test_asymmetry_is_a_minus_its_transpose() -> None:
    cells = [label for label in labels(heatmap(CODES, matrix(CODES), asymmetry=True)) if "." in label]
    assert cells[:4] == ["27.0", "18.0", "9.0", "36.0"]
    values = [float(cell.replace("\N{MINUS SIGN}", "-")) for cell in cells]
    assert sum(values) == 0


def test_many_languages_have_colours_alone() -> None:
    codes = [f"x{letter}" for letter in "abcdefghijklmnopq"]
    assert len(codes) > NUMBERED_LANGUAGES
    found = labels(heatmap(codes, matrix(codes)))
    assert not [label for label in found if "." in label]
    assert "unknown" in found


def test_the_same_figures_give_the_same_bytes() -> None:
    assert heatmap(CODES, matrix(CODES)) == heatmap(CODES, matrix(CODES))


def test_bars_name_every_row() -> None:
    found = labels(bars({"best": (40.0, 1.0), "a & b": (30.0, 0.0)}, "R@1"))
    assert {"best", "a & b", "R@1"} <= set(found)
