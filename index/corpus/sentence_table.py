"""LANG.arrow: the ids, texts and metadata (JSON objects) of the sentences of a language, row by row."""

import json
from typing import Any

from index.formats.sentence import Sentence

SENTENCE_COLUMNS = ("id", "text", "metadata")


def sentence_of(table: Any, row: int) -> Sentence:  # noqa: ANN401 (pyarrow is untyped)
    """The sentence of a row, without its language and line."""
    sentence_id, text, metadata = (table.column(name)[row].as_py() for name in SENTENCE_COLUMNS)
    return Sentence(sentence_id, text, "", 0, json.loads(metadata))
