"""What is a placeable, and how placeables go from question to answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text.placeables import marks, placeables, put_back, skeleton, without_tags

TEXTS = st.text(st.sampled_from("ab <>/%d{}s0123.$é\n"), max_size=30)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('<a href="x">', "tags"),
        ("<br/>", "tags"),
        ("%s", "placeholders"),
        ("%1$d", "placeholders"),
        ("%.2f", "placeholders"),
        ("%(name)s", "placeholders"),
        ("{0}", "placeholders"),
        ("{{ user }}", "placeholders"),
        ("${total}", "placeholders"),
        ("%{count}", "placeholders"),
        ("[X12X]", "placeholders"),
        ("{0,number}", "placeholders"),
        ("{\\an8}", "placeholders"),
        ("#", "placeholders"),
        ("%%", "placeholders"),
        ("1,234.50", "numbers"),
        ("12:30", "numbers"),
        ("٣", "numbers"),
    ],
)
def test_a_placeable_is_known(text: str, kind: str) -> None:
    (found,) = placeables(f"x {text} y")
    assert (found.lastgroup, found[0], found.start()) == (kind, text, 2)


@pytest.mark.parametrize("text", ["a < b > c", "50 % off", "{ not one }", "I <3 you", "%"])
def test_other_signs_are_text(text: str) -> None:
    assert marks(text, "tags", "placeholders") == []


def test_tags_and_placeholders_are_not_encoded() -> None:
    assert without_tags("Press <b>Enter</b> to go to {0}.") == "Press Enter to go to ."
    assert without_tags("Room 5") == "Room 5"
    assert without_tags("<b>%s</b>") == "<b>%s</b>"  # nothing would be left


@pytest.mark.parametrize(
    ("question", "original", "answer", "expected"),
    [
        ("Page 5 of 12", "Page 3 of 10", "Seite 3 von 10", "Seite 5 von 12"),
        ("Page 10 of 3", "Page 3 of 10", "Seite 3 von 10", "Seite 10 von 3"),
        ("Hello {name}", "Hello {user}", "Hallo {user}", "Hallo {name}"),
        ("Page 5", "Page 3", "Seite drei", "Seite drei"),  # the answer has it not
        ("3 of 5", "3 of 3", "3 von 3", "3 von 3"),  # which one is meant cannot be told
        ("Page 5 {0}", "Page 3", "Seite 3", "Seite 3"),
        ("At 8:45", "At 9:30", "Um 9:30", "Um 8:45"),
        ("<a href='/b'>2</a>", "<a href='/a'>1</a>", "<a href='/a'>1.</a>", "<a href='/b'>2.</a>"),
        ("<i>2</i>", "<b>1</b>", "<b>1.</b>", "<b>2.</b>"),
        ("%1$s, %2$s", "%s, %s", "%s, %s!", "%s, %s!"),
        ("$9,876.00", "$1,234.50", "1.234,50 $", "9.876,00 $"),
        ("$12,345.60 or {0}", "$1,234.50 or {a.b}", "{a.b} : 1\u00a0234,50 $", "{0} : 12\u00a0345,60 $"),
        ("2.5 of 7.5", "1.5 of 1,5", "1,5 von 1,5", "1,5 von 1,5"),  # which one is meant cannot be told
        ("$75", "$1,250", "1.250 $", "1.250 $"),
        ("On 6/7/2026", "On 5/5/2026", "Am 5.5.2026", "Am 5.5.2026"),  # the month may be first
        ("1,500 ml", "500 ml", "500 ml", "500 ml"),  # one and a half in German
    ],
)
def test_numbers_and_placeholders_are_put_back(
    question: str, original: str, answer: str, expected: str
) -> None:
    assert put_back(question, original, answer) == expected


@given(TEXTS)
def test_placeables_are_parts_of_the_text_in_order(text: str) -> None:
    end = 0
    for found in placeables(text):
        assert end <= found.start() < found.end()
        end = found.end()


@given(TEXTS)
def test_a_text_that_stays_the_same_keeps_its_answer(text: str) -> None:
    assert put_back(text, text, text) == text


@given(TEXTS)
def test_a_skeleton_has_no_placeable_left(text: str) -> None:
    assert marks(skeleton(text), "numbers") == []
