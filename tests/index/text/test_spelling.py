"""Words typed without their marks are read with them; what is typed with marks stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text.normalisation import clean
from index.text.spelling import marks, respelled, spellings, typed_forms


@pytest.mark.parametrize(
    ("code", "words", "typed", "meant"),
    [
        ("cs", ["dobré", "ráno"], "Dobre rano!", "dobré ráno!"),
        ("tr", ["günaydın"], "gunaydin", "günaydın"),
        ("de", ["für", "fuß"], "fuer den Fuss", "für den fuß"),
        ("de", ["schön"], "schon", "schön"),
        ("pl", ["łódź"], "Lodz", "łódź"),
        ("ar", ["لغة", "أي"], "اي لغه", "أي لغة"),
        ("ar", ["متأكدة"], "متأكده", "متأكدة"),
        ("hi", ["हूँ"], "हूं", "हूँ"),
        ("pt", ["avó"], "avô", "avô"),
        ("uk", ["мої"], "мои", "мои"),
        ("en", ["café"], "cafeteria", "cafeteria"),
    ],
)
def test_marks_that_were_not_typed_are_added(code: str, words: list[str], typed: str, meant: str) -> None:
    assert respelled(typed, code, spellings(words, code).get) == meant


WORDS = st.text("aeiouáéíóúýčřšžñçäöüßıłأإةىابتل", min_size=1, max_size=8).map(clean)


@given(st.lists(WORDS, min_size=1, unique=True), st.sampled_from(["cs", "de", "tr", "ar"]))
def test_a_word_is_found_by_each_way_to_type_it(words: list[str], code: str) -> None:
    found = spellings(words, code)
    for word in words:
        for typed in typed_forms(word, code):
            assert marks(typed) < marks(word)
            assert typed in typed_forms(found[typed], code)


@given(st.text(max_size=60).map(clean), st.sampled_from(["cs", "de", "tr", "ar"]))
def test_nothing_else_of_a_text_changes(text: str, code: str) -> None:
    assert respelled(text, code, lambda _: None) == text
    assert respelled(text, code, spellings(["žluťoučký"], code).get).lower().replace(
        "žluťoučký", "zlutoucky"
    ) == text.lower().replace("žluťoučký", "zlutoucky")
