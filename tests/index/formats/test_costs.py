"""The costliest file of each format, byte for byte: read in time that grows as the file does, or refused."""

import time
from pathlib import Path

import pytest

from index.errors import CorpusError
from index.formats.registry import Source, read
from index.formats.sentence import DEEPEST_JSON

SECONDS = 5  # of processor time; what is tried here took from 10 seconds to days

TMX = "<tmx><body><tu {}>{}</tu></body></tmx>"
VARIANT = "<tuv xml:lang='en'><seg>a</seg></tuv>"
XLIFF = "<xliff srcLang='en' trgLang='de'><file><unit {}>{}</unit></file></xliff>"
SEGMENT = "<segment><source>a</source><target>b</target></segment>"
PO = 'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset={}\\n"\n{}\n'
PLURAL = 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\n'


def attributes(count: int) -> str:
    return " ".join(f"a{number}='1'" for number in range(count))


def forms(value: str) -> str:
    return f'"Plural-Forms: {value}\\n"\n'


def entries(form: str, count: int = 40_000) -> str:
    return "".join(form.format(number) + 'msgid "a"\nmsgstr "b"\n\n' for number in range(count))


COSTLY: dict[str, tuple[str, str | None]] = {
    # File name -> content, and why it is refused (None: it is read).
    "attributes.tmx": (TMX.format(attributes(200_000), VARIANT), "<tu> has 200000 attributes"),
    "variant.tmx": (TMX.format("", f"<tuv {attributes(200_000)}/>"), "<tuv> has 200000 attributes"),
    "shared.tmx": (
        TMX.format("", f"<prop type='x'>{'x' * 1_000_000}</prop>" + VARIANT * 20_000),
        "metadata that 20000 sentences share",
    ),
    "attributes.xlf": (XLIFF.format(attributes(200_000), SEGMENT), "<unit> has 200000 attributes"),
    "notes.xlf": (
        XLIFF.format("", f"<notes>{'<note>a</note>' * 10_000}</notes>" + SEGMENT * 10_000),
        "metadata that 20000 sentences share",
    ),
    "children.xlf": (XLIFF.format("", "<x/>" * 50_000 + SEGMENT * 20_000), None),
    "merged.po": (PO.format("utf-8", "") + entries("#: a:{}\n"), None),
    "comments.po": (PO.format("utf-8", "") + entries("#. {}\n"), None),
    "plurals.po": (PO.format("utf-8", forms("nplurals=1000000000;")) + PLURAL, None),
    "header.po": (PO.format("utf-8", forms(";a" * 500_000)), None),
    "punycode.po": (PO.format("punycode", "") + entries("# {}\n"), "charset 'punycode' is not supported"),
    "lines.po": (PO.format("utf-8", "") + 'msgid "a"\nmsgstr ""\n' + '"a"\n' * 2_000_000, "an entry longer"),
    "line.po": (PO.format("utf-8", "") + f'msgid "{"a" * (2 << 20)}"\nmsgstr "b"\n', "an entry longer"),
    "row.csv": ("text,language\n" + '"a\n",' * 1_000_000, "a row longer than"),
    "shared.tsv": (
        "\t".join(["x", *(f"de-{number}" for number in range(100, 1000))])
        + "\n"
        + "x" * 500_000
        + "\ta" * 900
        + "\n",
        "metadata that 900 sentences share",
    ),
    "tag.jsonl": ('{"text": "a", "language": "' + "a-" * 400_000 + 'a"}\n', None),
    "nested.jsonl": ('{"text": "a", "language": "de", "x": ' + "[" * 900 + "]" * 900 + "}\n", "nested too"),
}


def exhaust(path: Path) -> None:
    for sentence in read(Source(path)):
        len(sentence.text)


@pytest.mark.parametrize("name", COSTLY)
def test_a_costly_file_is_read_in_linear_time_or_refused(name: str, tmp_path: Path) -> None:
    content, refusal = COSTLY[name]
    path = tmp_path / name
    path.write_text(content, "utf-8")
    begun = time.process_time()
    if refusal is None:
        exhaust(path)
    else:
        with pytest.raises(CorpusError, match=refusal) as caught:
            exhaust(path)
        assert "\n" not in str(caught.value)
    assert time.process_time() - begun < SECONDS


def test_json_as_deep_as_allowed_is_metadata(tmp_path: Path) -> None:
    deep = "[" * (DEEPEST_JSON - 1) + "]" * (DEEPEST_JSON - 1)
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"text": "a", "language": "de", "x": {deep}}}\n', "utf-8")
    assert len(list(read(Source(path)))) == 1
    path.write_text(f'{{"text": "a", "language": "de", "x": [{deep}]}}\n', "utf-8")
    with pytest.raises(CorpusError, match="nested too deeply"):
        exhaust(path)
