"""The files that documents name exist."""

import re

import pytest

from tests.docs.blocks import DOCUMENTS, ROOT

ROOMS = "index|evaluation|training|service|benchmarks|tests|scripts|corpora|docker|docs"
PLACEHOLDER = re.compile(r"/[A-Z]{3,}\b")
NAMED = re.compile(rf"`((?:{ROOMS})/[\w./-]*)(?:[:*][^`]*)?`")
FILE = re.compile(r"`((?:[\w-]+/)*\w+\.py)`")  # by the end of its path
MODULE = re.compile(r"python -m\s+(benchmarks(?:\.\w+)+|scripts\.\w+|service(?:\.\w+)+)")
PYTHON = [
    path.relative_to(ROOT).as_posix() for room in ROOMS.split("|") for path in (ROOT / room).rglob("*.py")
]


def missing(text: str) -> list[str]:
    """What `text` names in backticks, as a path from the root or by the end of one, that does not exist."""
    paths = {
        name for name in NAMED.findall(text) if not PLACEHOLDER.search(name) and not (ROOT / name).exists()
    }
    files = {
        name for name in FILE.findall(text) if not any(f"/{path}".endswith(f"/{name}") for path in PYTHON)
    }
    modules = {name.replace(".", "/") for name in MODULE.findall(text)}
    gone = {name for name in modules if not {f"{name}.py", f"{name}/__main__.py"} & set(PYTHON)}
    return sorted(paths | gone | files - {"passepartout.py"})


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_files_exist(document: str) -> None:
    assert missing((ROOT / document).read_text("utf-8")) == []


def test_a_file_that_is_gone_is_found() -> None:
    assert missing(
        "`index/fly.py`, `test_fly.py`, `service/api/`, `tmx.py`, `python -m\nbenchmarks.fly`"
    ) == ["benchmarks/fly", "index/fly.py", "test_fly.py"]


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in folder.glob("0*.md"))
