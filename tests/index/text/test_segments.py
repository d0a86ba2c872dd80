"""Sentences are taken out of a text and put back; everything else stays where it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text.segments import as_translation, filled, segments, sentence_of


def sentences(text: str, *, markup: bool = False) -> list[str]:
    return [
        sentence_of(part, markup=markup) for part in segments(text, "en", markup=markup) if not part.between
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Open the file\nCancel", ["Open the file", "Cancel"]),
        ("  A dog runs. A cat sleeps.\r\n\r\n\tDoes it?  ", ["A dog runs.", "A cat sleeps.", "Does it?"]),
        ("🐕 A dog runs! 🎉👩‍🚒", ["A dog runs!"]),
        ("\n \n", []),
        ("🎉 12", []),
        ("- A dog runs.\n• A cat -", ["A dog runs.", "A cat -"]),
        ("", []),
    ],
)
def test_a_plain_text(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "translated"),
    [
        ("<p>A dog runs.</p><p>A cat</p>", ["A dog runs.", "A cat"], "<p>X</p><p>X</p>"),
        ("<b>A dog</b> runs. <i>Stop!</i>", ["A dog runs.", "Stop!"], "<b>X</b> <i>X</i>"),
        ("A <b>black</b> dog &amp; a cat", ["A black dog & a cat"], "X"),
        ("A dog <b>runs.</b>", ["A dog runs."], "<b>X</b>"),
        ("<b>A dog runs</b>.", ["A dog runs."], "<b>X</b>"),
        ("<!-- A note. --><br>Hello", ["Hello"], "<!-- A note. --><br>X"),
        ("<!-- <pre> -->Hello", ["Hello"], "<!-- <pre> -->X"),
        ("<script a/>A<svg/>b<img translate=no>", ["A", "b"], "<script a/>X<svg/>X<img translate=no>"),
        ("&nbsp;A dog.&#160;&amp; B&#x1F415;", ["A dog.", "B"], "&nbsp;X&#160;&amp; X&#x1F415;"),
        ("A &quot;dog&quot; &hellip;&#x1F415;", ['A "dog" …'], "X&#x1F415;"),
        ("A <code>b</code>", ["A"], "X <code>b</code>"),
        ("<script>a('<script>')</script>B", ["B"], "<script>a('<script>')</script>X"),
        ("<b class='a notranslate'>A <b>b</b> c</b> D", ["D"], "<b class='a notranslate'>A <b>b</b> c</b> X"),
        ('A<p translate="no">B', ["A"], 'X<p translate="no">B'),
    ],
)
def test_a_fragment_of_html(text: str, expected: list[str], translated: str) -> None:
    assert sentences(text, markup=True) == expected
    parts = segments(text, "en", markup=True)
    assert filled(parts, lambda part: as_translation(part, "X", "", markup=True) or "") == translated


@given(st.text(st.sampled_from("aB .!?\n\t🐕</>bp&;\u200d"), max_size=40), st.booleans())
def test_the_segments_are_the_text(text: str, markup: bool) -> None:
    parts = segments(text, "en", markup=markup)
    assert "".join(part.text for part in parts) == text
    assert all(any(sign.isalnum() for sign in part.text) for part in parts if not part.between)
