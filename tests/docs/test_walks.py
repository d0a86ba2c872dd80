"""The command blocks of every document run, in their order, and print what the document shows."""

import json
import re
import shutil
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import DOCUMENTS, ROOT, Block, blocks
from tests.docs.walk import prepare, to_run, walk

RUN = [document for document in DOCUMENTS if any(map(to_run, blocks(document)))]
CHANCE = re.compile(r"^[01]\.\d\d(?=  )", re.MULTILINE)  # the confidence before an answer
FEWER_LANGUAGES = 0.2  # confidence is fitted to the languages of the index, of which a walk's has two
LOOSE = {"index": None, "score": 0.1, "confidence": 0.02}  # a version; how far figures may be off


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone whose shipped sentences have been indexed, by the command of the README."""
    folder = tmp_path_factory.mktemp("clone")
    prepare(folder)
    assert walk([Block("", 0, "sh", "make index\n")], folder).error == ""
    return folder


def expected(found: list[Block]) -> list[tuple[Block, Block]]:
    """Blocks that are run, each with the output that the next block shows."""
    return [(a, b) for a, b in pairwise(found) if to_run(a) and b.kind in ("json", "text")]


def alike(shown: Any, printed: Any, key: str = "") -> bool:  # noqa: ANN401
    """Whether two JSON values are the same but for what a new version of an index changes."""
    if key in LOOSE:
        off = LOOSE[key]
        return type(shown) is type(printed) and (off is None or abs(shown - printed) <= off)
    if isinstance(shown, dict) and isinstance(printed, dict):
        return shown.keys() == printed.keys() and all(alike(shown[k], printed[k], k) for k in shown)
    if isinstance(shown, list) and isinstance(printed, list):
        return len(shown) == len(printed) and all(map(alike, shown, printed))
    return bool(shown == printed)


def same(shown: Block, printed: str) -> bool:
    if shown.kind == "json":
        return alike(json.loads(shown.text), json.loads(printed))
    shown_chances, printed_chances = ([*map(float, CHANCE.findall(text))] for text in (shown.text, printed))
    if shown_chances and shown_chances != pytest.approx(printed_chances, abs=FEWER_LANGUAGES):
        return False
    return OutputChecker().check_output(
        CHANCE.sub("...", shown.text), printed, ELLIPSIS | NORMALIZE_WHITESPACE
    )


@pytest.mark.parametrize("document", RUN)
def test_blocks_run_and_print_what_is_shown(document: str, clone: Path, tmp_path: Path) -> None:
    prepare(tmp_path)
    shutil.copytree(clone / "var", tmp_path / "var")
    for language in ("en", "de"):
        lines = (ROOT / "corpora/everyday" / f"{language}.txt").read_text("utf-8").splitlines(keepends=True)
        (tmp_path / f"{language}.txt").write_text("".join(lines[:40]), "utf-8")
    found = blocks(document)
    done = walk([block for block in found if to_run(block)], tmp_path)
    assert done.error == ""
    wrong = {
        shown.line: (shown.text, done.printed[block.line])
        for block, shown in expected(found)
        if not same(shown, done.printed[block.line])
    }
    assert wrong == {}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_block_that_is_not_run_says_why(document: str) -> None:
    marked = [block for block in blocks(document) if block.mark]
    assert [block.line for block in marked if len(block.why) < 10 or block.kind != "sh"] == []


def test_a_command_that_fails_and_another_answer_are_found(tmp_path: Path) -> None:
    done = walk([Block("", 7, "sh", "echo one\n"), Block("", 9, "sh", "false\necho two\n")], tmp_path)
    assert done.printed[7] == "one\n"
    assert "no-such-file" in walk([Block("", 7, "sh", "ls no-such-file\n")], tmp_path).error
    assert same(Block("", 1, "text", "encode ... sentences\n"), "encode 5/5 sentences\n")
    assert not same(Block("", 1, "text", "1.00  Ein Hund\n"), "0.50  Ein Hund\n")
    answer = '{"index": "a", "results": [{"text": "x", "score": 1.0, "confidence": 0.5}]}'
    assert same(Block("", 1, "json", answer), answer.replace('"a"', '"b"').replace("0.5", "0.51"))
    assert not same(Block("", 1, "json", answer), answer.replace('"x"', '"y"'))
    assert not same(Block("", 1, "json", answer), answer.replace("0.5", "0.9"))
