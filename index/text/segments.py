"""Segments: a text as people send it, divided into sentences and into what stays where it is between them.

Line breaks, blank lines, space at the edges, tags of HTML and emoji around a sentence belong to no sentence.
Put together, the segments are the text again, character by character; a translation changes only sentences.
These end by ICU's rules for the language (UAX #29), but not after abbreviations.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter

from index.languages import ORDINAL_LANGUAGES
from index.text.normalisation import clean
from index.text.placeables import codes, marks, put_back

# Tags at which a sentence ends. Others may stand inside of one, as in "a <b>black</b> dog".
BLOCK_TAGS = frozenset(
    {"br", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "section"}
    | {"table", "tbody", "td", "th", "thead", "tr", "ul"}
)
VOID_TAGS = frozenset({"area", "br", "embed", "hr", "img", "input", "source", "track", "wbr"})  # never closed
LEFT_OUT = frozenset({"code", "pre", "script", "style", "svg", "template", "textarea"})  # and what says so:
_SAYS_SO = re.compile(r"""(?i)\s(?:translate=["']?no|class=(?:"[^"]*|'[^']*|[^\s"'>]*)\bnotranslate)\b""")
_PAIRED_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*+)[^<>]*(?<!/)>", re.IGNORECASE)
# A comment, tag or declaration; as in a browser, what is not closed goes to the end. The possessive repeats
# make it linear in the length of the text.
MARKUP = re.compile(
    r"""<(?:!--.*?(?:-->|\Z)|/?([a-z][a-z0-9]*+)(?:[^>"']|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)|[!?/][^>]*+(?:>|\Z))""",
    re.DOTALL | re.IGNORECASE,
)
LINE_BREAK = re.compile(r"(?<!\s)(?:(?![\n\r\u2028\u2029])\s)*+[\n\r\u2028\u2029]\s*+")
_ENTITY = re.compile(r"&(?:#\w{1,8}|[a-z]\w{1,31});", re.IGNORECASE)
# What may stand around a sentence without being part of it: space, pictures, before it also marks of lists.
_EDGE = r"\s\u200d\ufe0e\ufe0f\u20e3\u2190-\u2bff\u3030\U0001f000-\U0001faff\U000e0020-\U000e007f"
EDGES = re.compile(rf"((?:[-–—•·*&]?[{_EDGE}])*+)((?:[{_EDGE}]*+[^{_EDGE}]++)*+)")

MOST_SENTENCES = 50  # a longer text is taken as one

# The end of a sentence that is followed by more text, after a space in languages that use spaces.
_END = re.compile(r"[.!?…؟۔।॥։።]['\"”’»)\]]*\s+\S|[。！？｡][\s'\"”’»」』）]*[^\s'\"”’»」』）]")

# What is written with a full stop before something else, of which ICU knows only some: titles before a name,
# abbreviations before a number, and single letters, as in "z. B." and "J. Smith", but not "I".
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:Dr|Dra|Drs|Fr|Hr|Ing|Mgr|Mlle|Mme|Mr|Mrs|Ms|Prof|Sr|Sra|Srta|St|Sta|Ste"
    r"|approx|ca|Nr|nº|pp|tel|Tel|vs|(?!I\b)[^\W\d_])\.\s+$"
)
_ORDINAL = re.compile(r"(?:^|[\s(])\d{1,2}\.\s+$")


@dataclass(frozen=True)
class Segment:
    """A sentence as it stands in the text, or what stands `between` sentences and is not to be translated."""

    text: str
    between: bool = False


def segments(text: str, language: str, *, markup: bool = False) -> list[Segment]:
    """Divide a text in a language; with `markup`, a fragment of HTML. Their texts, joined, are the text."""
    runs = groupby(parts_of(text, language, markup=markup), attrgetter("between"))
    joined = (
        [Segment("".join(part.text for part in run), True)] if between else run for between, run in runs
    )
    return list(chain.from_iterable(joined))


def parts_of(text: str, language: str, *, markup: bool) -> Iterator[Segment]:
    """Yield the segments of a text, in which what is between two sentences may be several."""
    for block in _blocks(text) if markup else [Segment(text)]:
        parts = [block] if block.between else _divided(block.text, language, markup)
        yield from (part for part in parts if part.text)


def without_markup(markup: str) -> str:
    """The text of a fragment of HTML: entities decoded, without tags, which may divide words, and what is
    left out."""
    blocks = (" " if block.between else MARKUP.sub("", block.text) for block in _blocks(markup))
    return html.unescape("".join(blocks))


def sentence_of(segment: Segment, *, markup: bool = False) -> str:
    """The cleaned sentence; with `markup`, without the tags inside of it and with entities decoded."""
    return clean(without_markup(segment.text) if markup else segment.text)


def filled(parts: Sequence[Segment], translated: Callable[[Segment], str]) -> str:
    """The text with what `translated` gives for each sentence in its place."""
    return "".join(part.text if part.between else translated(part) for part in parts)


def as_translation(sentence: Segment, text: str, original: str, *, markup: bool) -> str | None:
    """`text`, which translates `original`, in place of a sentence; None for a similar one with other
    placeholders or tags.

    With `markup`, it may have tags that become those of the sentence. Without any, a tag that opens or closes
    inside of the sentence, and not in it alone, moves to its start or end.
    """
    asked = sentence_of(sentence, markup=markup)
    tags = [tag[0] for tag in MARKUP.finditer(sentence.text)] if markup else []
    if original == asked or codes(text) == codes(asked):
        opening, closing = _unpaired(sentence.text)
        return f"{opening}{html.escape(text, quote=False)}{closing}" if markup else text
    text = put_back("".join(tags), "".join(marks(original, "tags")), text)
    if codes(text) != codes(asked) + Counter(tags):
        return None
    parts = re.split(f"({'|'.join(map(re.escape, tags))})", text)
    return "".join(part if part in tags else html.escape(part, quote=False) for part in parts)


def _blocks(text: str) -> Iterator[Segment]:
    """The tags at which sentences end, elements that are left out, and what is between these."""
    place = end = 0
    while tag := MARKUP.search(text, end):
        name = (tag[1] or "br").lower()  # a comment or declaration, too
        end = _end(text, tag, name)
        if end > tag.end() or name in BLOCK_TAGS or name in LEFT_OUT:
            yield Segment(text[place : tag.start()])
            yield Segment(text[tag.start() : end], between=True)
            place = end
    yield Segment(text[place:])


def _end(text: str, tag: re.Match[str], name: str) -> int:
    """Where a tag ends or, if it begins an element that is left out, where that ends."""
    nests, depth = name not in LEFT_OUT, 1  # what is in these is no markup
    is_alone = tag[0].startswith("</") or tag[0].endswith("/>") or name in VOID_TAGS
    if is_alone or (nests and not _SAYS_SO.search(tag[0])):
        return tag.end()
    for other in _PAIRED_TAG.finditer(text, tag.end()):
        depth += (other[2].lower() == name) * (-1 if other[1] else nests)
        if depth == 0:
            return other.end()
    return len(text)


def _divided(block: str, language: str, markup: bool) -> Iterator[Segment]:
    """The sentences of a block and what is between them."""
    blank_block = _blank(block) if markup else block
    place = 0
    for end in chain((line_break.end() for line_break in LINE_BREAK.finditer(block)), [len(block)]):
        for blank in sentence_parts(blank_block[place:end], language):
            yield from _without_edges(block[place : place + len(blank)], blank)
            place += len(blank)


def _blank(block: str) -> str:
    """A block with spaces in place of its tags, and its entities decoded: each character where it was."""
    blank = MARKUP.sub(lambda tag: " " * len(tag[0]), block)
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]).ljust(len(entity[0]), "\u200d"), blank)


def _without_edges(part: str, blank: str) -> Iterator[Segment]:
    """A sentence, without space, pictures and tags before and after it; what has no letters is none."""
    edges = EDGES.match(blank)
    start, end = edges.span(2) if edges and any(map(str.isalpha, blank)) else (len(part), len(part))
    end = max([end, *(entity.end() for entity in _ENTITY.finditer(part) if entity.start() < end)])
    yield Segment(part[:start], between=True)
    yield Segment(part[start:end])
    yield Segment(part[end:], between=True)


def _unpaired(sentence: str) -> tuple[str, str]:
    """The opening tags of a sentence that are not closed in it, and the closing ones not opened in it."""
    opened: list[re.Match[str]] = []
    closing = ""
    for tag in MARKUP.finditer(sentence):
        name = (tag[1] or "").lower()
        if not tag[0].startswith("</"):
            opened += [tag] if name not in VOID_TAGS and not tag[0].endswith("/>") else []
        elif opened and (opened[-1][1] or "").lower() == name:
            opened.pop()
        else:
            closing += tag[0]
    return "".join(tag[0] for tag in opened), closing


def sentences(text: str, language: str) -> list[str]:
    """The sentences of a cleaned text; the text itself where it is one, or more than MOST_SENTENCES."""
    parts = list(sentence_parts(text, language))
    return [part.strip() for part in parts] if 1 < len(parts) <= MOST_SENTENCES else [text]


def sentence_parts(text: str, language: str) -> Iterator[str]:
    """Divide a text behind the end of each sentence and the space after it; joined, they are the text."""
    if not may_be_several(text):  # nearly always
        yield text
        return
    # Imported here: ICU's data is 40 MB on disk, and most texts are one sentence.
    from icu4py.breakers import SentenceBreaker

    part: list[str] = []
    for segment in map(str, SentenceBreaker(text, f"{language}@ss=standard")):
        punctuation = not any(character.isalnum() for character in segment)  # by itself no sentence
        before = part[-1] if part else ""  # whose full stop may belong to its last word
        ordinal = language in ORDINAL_LANGUAGES and _ORDINAL.search(before)
        if part and not (punctuation or ordinal or _ABBREVIATION.search(before)):
            yield "".join(part)
            part = []
        part.append(segment)
    yield "".join(part)


def may_be_several(text: str) -> bool:
    """Whether a text may have several sentences: whether text follows the possible end of a sentence."""
    return _END.search(text) is not None
