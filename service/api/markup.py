"""The text of an HTML fragment: what a protocol that sends HTML wants to have translated."""

from html.parser import HTMLParser

# Where one of these starts or ends, so does a word.
BLOCKS = frozenset({"br", "dd", "div", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "td", "th"})


def text_of(markup: str) -> str:
    """The text of `markup`: tags and comments removed, entities decoded."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return "".join(reader.parts)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.handle_starttag(tag, [])
