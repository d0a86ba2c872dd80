"""The tables of speakers; what they are for is in rewordings.tsv."""

import tomllib
from pathlib import Path

from index.languages import language
from index.text import speakers


def test_every_table_is_of_a_language_and_is_read_whole() -> None:
    tables = tomllib.loads(Path(speakers.__file__).with_suffix(".toml").read_text("utf-8"))
    for code, table in tables.items():
        assert language(code).name != code
        assert table.keys() <= {*speakers.Speakers._fields}
        found = speakers.speakers_of(code)
        assert found is not None
        assert all(len(pair) == 2 and pair[0] != pair[1] for pair in found.forms)
    assert speakers.speakers_of("tr") is None
