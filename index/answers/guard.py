"""The guard: an answer that says another number, side, day or person than its question, or its opposite.

However alike the vectors and the words of two sentences are, such an answer is near at best. Numbers are
compared for every candidate (evidence.py); what else two texts say differently (text/contrasts) is looked for
only where an answer is otherwise likely, since it takes longer. Where nothing is aligned, an answer also says
what the sentence of the question's language says that it suits clearly better, and one much longer or shorter
than its question says more or less.
"""

import re
from collections.abc import Iterator, Sequence

from index.answers.answer import Differs
from index.answers.evidence import Questions, as_written
from index.answers.word_index import WordIndex
from index.languages import has_spaces
from index.text.contrasts.compare import contrasts
from index.text.contrasts.contrast import Contrast
from index.text.contrasts.lexicon import MOOD
from index.text.normalisation import QUESTION_MARK, words_of
from index.text.number_words import numbers_in
from index.text.placeables import without_tags

# Of the logs of lengths (evidence.py): one in 1,100 shipped sentences and their translations differ more.
MOST_LENGTH_DIFFERENCE = 0.9
SUITS_BETTER = 0.05  # CSLS, of another sentence than the question; less is as often the question's own answer


def contrasting(
    asked: Questions, question: int, text: str, language: str, words: WordIndex
) -> Iterator[Contrast]:
    """What a text in some language says otherwise than a question, by number; `words`: of its language."""
    bare, text = asked.bare[question], without_tags(text)
    if bare != text:
        yield from contrasts(bare, asked.language, text, language, words.same_meaning, words.meanings)


def differing(
    found: Sequence[Contrast],
    asked: Questions,
    question: int,
    original: str,
    answer: tuple[str, str],
    words: WordIndex,
) -> Differs:
    """The words by which a question differs from a sentence of its language, and from its translation.

    `found`: what that sentence says otherwise. `answer`: its translation and that language.
    """
    across = contrasting(asked, question, *answer, words)
    return Differs(
        question=_asked_words(found, asked.bare[question]),
        answer=as_written([word for contrast in across for word in contrast.answer], answer[0]),
        gloss=as_written([word for contrast in found for word in contrast.answer], original),
    )


def with_numbers(differs: Differs, question: str, original: str, language: str) -> Differs:
    """Add the numbers of a question that a sentence of its language has not."""
    counts = numbers_in(original, words_of(original, language), language)
    others = [word for word in words_of(question, language) if numbers_in(word, [word], language) - counts]
    every = dict.fromkeys([*differs.question, *as_written(others, question)])
    return differs.model_copy(update={"question": tuple(every)})


def _asked_words(found: Sequence[Contrast], question: str) -> tuple[str, ...]:
    """The words of a question by which contrasts are said, but for its mark."""
    said = [word for contrast in found for word in contrast.question if not QUESTION_MARK.fullmatch(word)]
    return as_written(said, question)


def with_contrasts(
    differs: Differs, found: Sequence[Contrast], question: str, answer: str, language: str
) -> Differs:
    """Add the words of the texts by which contrasts are said to those by which an answer differs.

    `language`: the answer's.
    """
    if not found:
        return differs
    # Those of a sentence of the question's language are not in the answer, but for marks of a question.
    edge = r"\b" if has_spaces(language) else ""
    said, lowered = [word for contrast in found for word in contrast.answer], answer.lower()
    words = [word for word in said if re.search(edge + re.escape(word) + edge, lowered)]
    if any(contrast.axis == MOOD and contrast.answer for contrast in found):
        words += QUESTION_MARK.findall(answer)
    answered = as_written(words, answer)
    return Differs(
        question=tuple(dict.fromkeys([*differs.question, *_asked_words(found, question)])),
        answer=tuple(dict.fromkeys([*differs.answer, *answered])),
    )
