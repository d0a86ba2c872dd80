"""Judging what a person gets: the files of tests/people are sound, and a verdict is what they say."""

import re
from collections import Counter

from benchmarks.people import Question, read_questions
from index.answers.answer import Answer
from index.languages import languages


def answer(text: str, match: str = "translation") -> Answer:
    return Answer.model_construct(text=text, match=match)


def test_there_are_a_hundred_scenes_and_a_hundred_others() -> None:
    kinds = Counter(question.kind for question in read_questions())
    assert kinds.pop("scene") == 100
    assert kinds.total() == 100


def test_each_question_is_of_two_languages_and_its_expressions_compile() -> None:
    for question in read_questions():
        assert {question.source, question.target} <= languages().keys()
        assert question.source != question.target
        for expression in question.right:
            re.compile(expression)
        assert bool(question.near) == bool(question.right), question


def test_an_answer_is_right_near_or_wrong() -> None:
    question = Question("scene", "en", "de", "A dog in the park", ("Hund",), ("Hund", "Park"))
    assert question.judge([answer("Eine Katze"), answer("Ein Hund im Park")]) == "right"
    assert question.judge([answer("Ein Hund im Park", "near")]) == "near"
    assert question.judge([answer("Ein Hund am Strand")]) == "near"
    assert question.judge([answer("Eine Katze")]) == "wrong"
    assert question.judge([answer("Eine Katze", "near")]) == "nothing"
    assert question.judge([]) == "nothing"


def test_where_nothing_is_right_an_answer_above_the_line_is_wrong() -> None:
    question = Question("other", "en", "de", "The bank raised rates", (), ())
    assert question.judge([]) == "right"
    assert question.judge([answer("Eine Bank", "near")]) == "right"
    assert question.judge([answer("Eine Bank")]) == "wrong"
