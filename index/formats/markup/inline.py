"""Inline codes of XML formats (<g> <x/> <pc> <ph> <bpt> ...): carried from a source to its translation.

To be kept in a memory, a text with codes is written with a short tag for each, as OmegaT does: `<g1>`,
`</g1>` around text, `<x2/>` for a code by itself; the number is the code's own id.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from index.formats.document import Charset, Document, Edit, Filling, Unit
from index.formats.markup.xml import CODE_ELEMENTS, Element, escaped
from index.formats.sentence import CODES

_SHORT_TAG = re.compile(r"</?[a-z]+[\w.:-]*/?>")
_IDS = ("id", "i", "x", "mid", "rid")


def metadata_of(element: Element) -> dict[str, Any]:
    """The text of an element with its codes as tags, as metadata; empty without codes."""
    pieces = list(_pieces(element))
    return {CODES: "".join(tag or text for tag, text in pieces)} if any(tag for tag, _ in pieces) else {}


def _pieces(
    element: Element, source: str = "", numbers: Counter[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield (tag, mark-up in `source`) of each code and ("", text) of what is between."""
    numbers = Counter[str]() if numbers is None else numbers
    for child in element.children:
        if isinstance(child, str):
            yield "", child
            continue
        numbers[child.name] += 1
        stated = next((value for name in _IDS if (value := child.get(name))), "")
        number = stated if re.fullmatch(r"[\w.:-]{1,40}", stated) else str(numbers[child.name])
        if child.name in CODE_ELEMENTS or not child.children:
            yield f"<{child.name}{number}/>", source[child.begin : child.end]
        else:
            yield f"<{child.name}{number}>", source[child.begin : child.inner]
            yield from _pieces(child, source, numbers)
            yield f"</{child.name}{number}>", source[child.close : child.end]


def unit(document: Document, source: Element, edit: Callable[[Filling], Iterable[Edit]]) -> Unit:
    """The unit of a source element; `edit` gives the edits that write a filling, whose text is then XML."""
    pieces = list(_pieces(source, document.text))
    return Unit(source.text, edit, adapt=partial(_adapted, document.charset, pieces))


def _adapted(charset: Charset, pieces: Sequence[tuple[str, str]], filling: Filling) -> Filling:
    """A translation as XML with the codes of the source, fuzzy where their places are not sure.

    They are if the memory has the same codes, or if all codes are around the text. Others are put at the
    end, in order.
    """
    codes = [(tag, markup) for tag, markup in pieces if tag]
    if not codes:
        return filling._replace(text=escaped(filling.text, charset))
    markup = dict(codes)
    if Counter(_SHORT_TAG.findall(filling.codes)) == Counter(tag for tag, _ in codes):
        parts = re.split(f"({_SHORT_TAG.pattern})", filling.codes)
        content = "".join(markup.get(part) or escaped(part, charset) for part in parts)
        return filling._replace(text=content)
    texts = [place for place, (tag, text) in enumerate(pieces) if not tag and text.strip()]
    first, last = (texts[0], texts[-1]) if texts else (0, 0)
    before, within, after = (
        "".join(text for tag, text in some if tag)
        for some in (pieces[:first], pieces[first:last], pieces[last:])
    )
    content = f"{before}{escaped(filling.text, charset)}{within}{after}"
    return filling._replace(text=content, fuzzy=filling.fuzzy or bool(within))
