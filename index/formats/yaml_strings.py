"""YAML with texts by key, as Rails and Symfony have it; the file's language is a single top key."""

import json
import re
from collections.abc import Iterator

import yaml

from index.errors import CorpusError
from index.formats.document import Charset, Edit, decoded
from index.formats.keyed import Contents, Keyed, String
from index.formats.sentence import DEEPEST_JSON
from index.languages import is_named

LONGEST_FILE = 512 << 10  # bytes, which take seconds
STRING_TAG = "tag:yaml.org,2002:str"
# What is surely text without quotation marks.
_PLAIN = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[^\W\d_](?:[\w ,.()%+'’!?-]*[\w).!?’])?", re.IGNORECASE
)
_PROPERTIES = re.compile(r"(?:(?:[&!]\S*|#.*)\s+)*")  # an anchor and a tag, which stay


def _parse(label: str, content: bytes) -> Contents:
    if len(content) > LONGEST_FILE:
        raise CorpusError(f"{label}: longer than {LONGEST_FILE} bytes: divide it")
    text, charset = decoded(label, content)
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        raise CorpusError(f"{label}{line}: not YAML: correct it") from error
    language = None
    if isinstance(root, yaml.MappingNode) and len(root.value) == 1:
        key = root.value[0][0]
        language = key if isinstance(key, yaml.ScalarNode) and is_named(key.value) else None

    def head(target: str) -> Iterator[Edit]:
        if language is not None:
            begin, end = language.start_mark.index, language.end_mark.index
            yield Edit(begin, end, text[begin:end].replace(language.value, target))

    strings = _strings(label, text, root, "", set(), 0) if root is not None else iter(())
    return Contents(text, charset, strings, language.value if language else None, head)


def _strings(
    label: str, text: str, node: yaml.Node, path: str, seen: set[int], depth: int
) -> Iterator[String]:
    if depth > DEEPEST_JSON:
        raise CorpusError(f"{label}: nested deeper than {DEEPEST_JSON} levels: divide it")
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            # The language at the top is in no key, so that files of several languages are translations.
            below = path if depth == 0 and len(node.value) == 1 and is_named(name) else f"{path}/{name}"
            yield from _strings(label, text, value, below, seen, depth + 1)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _strings(label, text, value, f"{path}/{number}", seen, depth + 1)
    elif isinstance(node, yaml.ScalarNode) and node.tag == STRING_TAG and node.value.strip():
        begin = next(_PROPERTIES.finditer(text, node.start_mark.index)).end()
        end = node.end_mark.index
        yield String(path.strip("/"), node.value, begin, begin + len(text[begin:end].rstrip()))


def _written(text: str, charset: Charset, before: str) -> str:
    """A scalar in the style of the one before; blocks and what needs it in double quotation marks."""
    if before.startswith("'") and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    plain = not before.startswith(('"', "'", "|", ">")) and _PLAIN.fullmatch(text) is not None
    return text if plain else json.dumps(text, ensure_ascii=False)


FORMAT = Keyed(_parse, _written)
