"""The fenced blocks of a Markdown document, and what is said about them where no reader sees it.

A comment on the line before a fence, `<!-- not run: why -->` or `<!-- minutes: why -->`, keeps a block of
commands from being run by the tests: always, or unless DOCS=all is in the environment.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", "docs/*/*.md", "corpora/*/*.md", "models/*/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)
COMMANDS = ("passepartout", "python", "make", "curl", "docker", "pip", "pre-commit", "git")
# Words in capitals that stand for something of the reader's: such a block shows how a command is used.
PLACEHOLDER = re.compile(
    r"\b(DIR|RUN2?|REPORT|BUNDLE|INDEX|LANG|FILE|OUT|NAME|SUITE|RECIPE|PICTURES|TEXT|KEY|URL|EN\.txt)\b"
)
FENCE = re.compile(
    r"(?:<!-- (not run|minutes): ([^\n]+?) -->\n)?^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    document: str
    line: int
    kind: str  # the word after the fence: sh, text, json, ...
    text: str
    mark: str = ""  # "not run" or "minutes"
    why: str = ""

    @property
    def commands(self) -> list[str]:
        """Its command lines, continued ones joined."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [line.strip() for line in lines if program(line)]

    @property
    def usage(self) -> bool:
        """Whether it shows how commands are used, and not what to type."""
        return bool(PLACEHOLDER.search(re.sub(r"#.*|'.*?'|\".*?\"", "", self.text)))


def program(line: str) -> str:
    """Which of COMMANDS a line calls, or nothing."""
    words = line.split()
    name = words[0].rpartition("/")[2] if words else ""
    return name if name in COMMANDS else ""


def blocks(document: str) -> list[Block]:
    text = (ROOT / document).read_text("utf-8")
    return [
        Block(
            document, text[: match.start(4)].count("\n"), match[3], match[4], match[1] or "", match[2] or ""
        )
        for match in FENCE.finditer(text)
    ]


def indented(document: str) -> list[Block]:
    """Indented lines that call a command, each a block."""
    lines = (ROOT / document).read_text("utf-8").splitlines()
    return [
        Block(document, number, "", line.strip())
        for number, line in enumerate(lines, start=1)
        if line.startswith("    ") and program(line)
    ]
