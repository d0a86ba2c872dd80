import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from evaluation.reports.document import Code, Grid, Heading, Picture, Text, as_html, as_markdown, text, write
from index.errors import UsageError

SVG = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>'
BLOCKS = [
    Heading(1, "a < b"),
    text("One `a|b`,", "**strong**."),
    Text(("x", "y"), listed=True),
    Code("f <x>"),
    Grid(["from", "en|de"], [["**en**", "1.0"]]),
    Picture("p.svg", "a picture", SVG),
]


def test_markdown() -> None:
    assert as_markdown(BLOCKS).split("\n\n") == [
        "# a < b",
        "One `a|b`, **strong**.",
        "- x\n- y",
        "```\nf <x>\n```",
        "| from | en\\|de |\n| --- | ---: |\n| **en** | 1.0 |",
        "![a picture](p.svg)\n",
    ]


def test_html_is_well_formed_escaped_and_needs_nothing_else() -> None:
    page = as_html("a < b", BLOCKS)
    body = ElementTree.fromstring(page[page.index("<body>") : page.index("</html>")])
    assert [element.text for element in body.iter() if element.tag in ("h1", "pre", "td", "th")] == [
        "a < b", "f <x>", "from", "en|de", None, "1.0",
    ]  # fmt: skip
    assert [element.text for element in body.iter("strong")] == ["strong", "en"]
    assert [element.text for element in body.iter("code")] == ["a|b"]
    assert body.find("figure/{http://www.w3.org/2000/svg}svg") is not None
    assert not re.search(r"(src|href)=", page)


def test_pictures_are_written_next_to_the_text(tmp_path: Path) -> None:
    write(tmp_path / "new", {"report.md": as_markdown(BLOCKS)}, BLOCKS)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["p.svg", "report.md"]
    assert (tmp_path / "new" / "p.svg").read_text("utf-8") == SVG


def test_a_folder_that_cannot_be_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="give another --out"):
        write(tmp_path / "file" / "report", {}, [])
