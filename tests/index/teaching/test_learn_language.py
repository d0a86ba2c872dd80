"""Languages taught: Portuguese to a bundle of the other languages, one more to the encoder of an index."""

from pathlib import Path

import numpy as np
import pytest

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.build.changes import change_index
from index.build.probes import PROBE_FOLDER
from index.encoder.bundle import PICTURES, Bundle, open_bundle
from index.encoder.pictures import Pictures, packed
from index.encoder.text_encoder import TextEncoder
from index.errors import OutdatedError, UsageError
from index.formats.registry import Source
from index.progress import ProgressStep, heard_by
from index.storage.options import Options
from index.storage.versions import VERSIONS, open_version
from index.teaching.learn_language import teach_index
from passepartout import run
from tests.bundles import DRAWN, LANGUAGES, lexicon, make_bundle, make_corpus, republished, sentences
from tests.conftest import Fails
from tests.damage import longest_file

KNOWN = tuple(code for code in LANGUAGES if code != "pt")
SHIPPED = Path(__file__).parents[3] / "models" / "open"


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """With a picture of what each fourth sentence says, beside the pictograms."""
    folder = tmp_path_factory.mktemp("before")
    plain = make_bundle(folder / "plain", languages=KNOWN, int8=True)
    drawn, scenes = Pictures.open(plain), sentences("en")[::4]
    assert drawn is not None
    names = [*drawn.names, *(f"scenes/{number}.jpg" for number in range(len(scenes)))]
    vectors = np.concatenate([drawn.vectors, TextEncoder(plain).encode(scenes, language="en")])
    return republished(plain, folder, PICTURES, packed(names, vectors))


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictograms by emoji, by their names and by their full names; photographs by their names."""
    file = tmp_path_factory.mktemp("captions") / "captions.tsv"
    words = {concept["en"]: concept["pt"] for concept in lexicon()}
    rows = [f"{number}.jpg\t{text}" for number, text in enumerate(sentences("pt")[::4])]
    for name, code in DRAWN.items():
        called = (chr(int(code, 16)), code, f"pictograms/{code}")
        rows += [
            f"{call}\t{phrase} {words[name]}."
            for call, phrase in zip(called, ("O", "Um", "Esse"), strict=True)
        ]
    file.write_text("\n".join(rows) + "\n", "utf-8")
    return file


@pytest.fixture(scope="module")
def taught(before: Bundle, captions: Path, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    out = tmp_path_factory.mktemp("taught") / "tiny"
    given = ["--captions", str(captions), "--out", str(out)]
    assert run(["learn-language", str(before.folder), "pt", *given]) == 0
    return open_bundle(out)


def test_the_new_language_is_translated(taught: Bundle, tmp_path: Path) -> None:
    build_index(taught, make_corpus(tmp_path / "corpus", ("en", "pt"), 100), tmp_path / "index")
    translator = Translator.open(tmp_path / "index")
    asked = dict(zip(sentences("pt")[1::97], sentences("en")[1::97], strict=True))
    own = translator.encode(list(asked), "pt")
    assert (own * TextEncoder(taught).encode(list(asked.values()), language="en")).sum(axis=1).min() > 0.7
    texts = (tmp_path / "corpus" / "pt.txt").read_text("utf-8").splitlines()
    lines = (tmp_path / "corpus" / "en.txt").read_text("utf-8").splitlines()
    answers = translator.sentences(texts, "pt", "en")
    assert np.mean([row[0].text == line for row, line in zip(answers, lines, strict=True)]) > 0.9
    assert translator.words(["cão"], "pt", "en")[0][0].text == "dog"
    assert translator.detect("O cão pequeno corre na praia.") == "pt"


def test_the_other_languages_stay_the_same_to_the_bit(before: Bundle, taught: Bundle) -> None:
    ours, theirs = (bundle.manifest.files for bundle in (before, taught))
    assert {name: theirs[name] for name in ours if name != "README.md"} == {
        name: entry for name, entry in ours.items() if name != "README.md"
    }
    one, other = TextEncoder(before), TextEncoder(taught)
    for code in KNOWN:
        texts = sentences(code)[::3]
        assert np.array_equal(one.encode(texts, language=code), other.encode(texts, language=code))
        vocabulary = [concept[code] for concept in lexicon()]
        assert np.array_equal(one.word_vectors(vocabulary, code), other.word_vectors(vocabulary, code))


def test_report_and_card_say_what_was_learned_and_from_what(taught: Bundle, before: Bundle) -> None:
    report = taught.folder.with_name("tiny.report.md").read_text("utf-8")
    for page in (report, taught.card.read_text("utf-8")):
        assert "378 captions of pictures" in page
        assert "| a text finds its picture |" in page
    assert taught.manifest.measures["taught_pt_captions_r10"] > 50
    assert (taught.name, before.name) == ("tiny@1-pt", "tiny@1")
    assert taught.manifest.languages == tuple(sorted(LANGUAGES))


@pytest.mark.parametrize(
    ("code", "lines", "message"),
    [
        (
            "pt",
            ["1f415\tcão", "dog\tcão", "1f415\tO cão"],
            "1 picture is not among the bundle's: dog (line 2)",
        ),
        (
            "pt",
            [f"{n}.png\tcão" for n in range(12)],
            ", 11.png (line 12)",
        ),
        ("pt", ["1f415\tcão", "1f408"], "line 2: 1 columns, give picture TAB text in the new language"),
        ("pt", ["1f415\tcão\thuman"], "line 1: 3 columns"),
        ("pt", ["1f415\t "], "line 1: an empty column"),
        ("pt", [""], "no lines"),
        ("pt", ["1f415\tcão"], "1 lines are too few: give 10 or more"),
        ("de", ["1f415\tcão"], "tiny@1 knows de already"),
        ("deu", ["1f415\tcão"], "tiny@1 knows de already"),
        ("en-GB", ["1f415\tcão"], "tiny@1 knows en already"),
        ("cmn", ["1f415\tcão"], "tiny@1 knows zh already"),
        ("xx", ["1f415\tcão"], "'xx' is not a language code (BCP 47) such as sw; qaa to qtz are free"),
        ("portugues", ["1f415\tcão"], "'portugues' is not a language code (BCP 47)"),
        ("../pt", ["1f415\tcão"], "is not a language code"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    before: Bundle, tmp_path: Path, fails: Fails, code: str, lines: list[str], message: str
) -> None:
    (tmp_path / "captions.tsv").write_text("\n".join(lines), "utf-8")
    given = ["--captions", tmp_path / "captions.tsv", "--out", tmp_path / "out"]
    assert message in fails("learn-language", before.folder, code, *given)
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_one_line_before_it_learns_and_leaves_nothing(
    before: Bundle, captions: Path, tmp_path: Path, fails: Fails
) -> None:
    out = tmp_path / "out"
    given = ["learn-language", before.folder, "pt", "--captions", captions, "--out", out]
    steps: list[ProgressStep] = []
    with longest_file(5), heard_by(steps.append):
        line = fails(*given, code=1)
    assert steps == []
    assert line == f"passepartout: {out} cannot be written (File too large)"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spelled", "code"), [("POR", "pt"), ("QEL", "qel"), ("zh-hant", "zh-Hant"), ("sr@latin", "sr-Latn")]
)
def test_a_code_in_another_spelling_is_taught_as_the_standard_one(
    before: Bundle, captions: Path, tmp_path: Path, spelled: str, code: str
) -> None:
    out = tmp_path / "out"
    given = ["--captions", str(captions), "--out", str(out)]
    assert run(["learn-language", str(before.folder), spelled, *given]) == 0
    assert list(open_bundle(out).taught) == [code]


@pytest.mark.slow
def test_a_shipped_bundle_learns_from_names_and_keeps_its_languages(tmp_path: Path) -> None:
    """What is learned are made-up names of pictures."""
    before = open_bundle(SHIPPED)
    pictures = Pictures.open(before)
    assert pictures is not None
    names = pictures.names[::16]
    letters = np.random.default_rng(0).choice(list("abdegikmnoprstuz"), (len(names), 8))
    words = ["".join(row) for row in letters.tolist()]
    lines = [f"{name}\t{word}" for name, word in zip(names, words, strict=True)]
    (tmp_path / "captions.tsv").write_text("\n".join(lines), "utf-8")
    given = ["--captions", str(tmp_path / "captions.tsv"), "--out", str(tmp_path / "out")]
    assert run(["learn-language", str(SHIPPED), "tlh", *given]) == 0
    one, other = TextEncoder(before), TextEncoder(open_bundle(tmp_path / "out"))
    for file in sorted((PROBE_FOLDER / "everyday").glob("*.txt")):
        texts = file.read_text("utf-8").splitlines()[::10]
        assert np.array_equal(one.encode(texts, language=file.stem), other.encode(texts, language=file.stem))
    nearest = (other.encode(words, language="tlh") @ pictures.vectors.T).argmax(axis=1)
    assert np.mean([pictures.names[row] == name for row, name in zip(nearest, names, strict=True)]) > 0.8


CAPTIONS = [
    (f"pictograms/{code}", text)
    for name, code in DRAWN.items()
    for text in (f"{name[::-1]}o", f"la {name[::-1]}o")
]


@pytest.fixture
def index(bundle: Bundle, tmp_path: Path) -> Path:
    build_index(bundle, make_corpus(tmp_path / "corpus", ("en", "de"), 40), tmp_path / "index")
    return tmp_path / "index"


def test_the_new_version_translates_from_it_and_else_as_before(index: Path) -> None:
    before = Translator.open(index)
    manifest, learned = teach_index(index, "eo", CAPTIONS)
    assert learned is not None
    assert learned.lines == 12
    after = Translator.open(index)
    assert after.version == manifest.version != before.version
    assert after.model == "tiny@1-eo"
    asked = ["A small dog runs on the beach.", "The bird sits."]
    assert before.sentences(asked, "en", "de", 5) == after.sentences(asked, "en", "de", 5)
    assert "dog" in after.sentences(["la godo"], "eo", "en")[0][0].text
    old, new = (index / VERSIONS / name for name in (before.version, after.version))
    assert (old / "en.arrow").stat().st_ino == (new / "en.arrow").stat().st_ino, "not copied"


def test_taught_words_answer_as_well_as_ask_with_a_corpus_and_without(index: Path, tmp_path: Path) -> None:
    teach_index(index, "eo", CAPTIONS)
    taught = Translator.open(index)
    info = {language.code: language for language in taught.languages}
    assert (info["eo"].sentences, "eo" in info["en"].targets) == (0, True)
    asked, answer = taught.words(["godo"], "eo", "en", 3), taught.words(["dog"], "en", "eo", 3)
    assert asked[0][0].text == "dog"
    assert asked[0][0].in_vocabulary
    assert (answer[0][0].text, answer[0][0].id, answer[0][0].examples) == ("godo", "eo:word:godo", ())
    assert taught.sentences(["A dog."], "en", "eo") == [()]
    corpus = tmp_path / "more.txt"
    corpus.write_text("Godo kuras.\nJen Godo kaj dog.\nLa bela Godo.\n", "utf-8")
    change_index(index, add=[Source(corpus, "eo")])
    after = Translator.open(index)
    (word,), (before,) = after.words(["dog"], "en", "eo"), answer
    assert (word[0].id, word[0].confidence) == (before[0].id, before[0].confidence), "as sure as before"
    assert (word[0].text, word[0].examples) == ("Godo", ("Godo kuras.", "Jen Godo kaj dog."))
    assert after.sentences(["The dog."], "en", "eo")[0]


def test_few_sentences_of_a_taught_language_change_no_answer_in_others(
    bundle: Bundle, tmp_path: Path
) -> None:
    corpus = make_corpus(tmp_path / "corpus", ("en", "de"), 40)
    build_index(bundle, corpus, tmp_path / "index", options=Options(aligned=True))
    teach_index(tmp_path / "index", "eo", CAPTIONS)
    asked = ["la godo", "la drib", "godo kaj tac"]
    before = Translator.open(tmp_path / "index").sentences(asked, "eo", "de", 5)
    table = tmp_path / "few.tsv"
    table.write_text("en\teo\nThe dog is old.\tla godo oldas\nA bird.\tdribo\n", "utf-8")
    change_index(tmp_path / "index", add=[Source(table)])
    translator = Translator.open(tmp_path / "index")
    assert translator.sentences(["la godo oldas"], "eo", "en")[0][0].match == "exact"
    for old, new in zip(before, translator.sentences(asked, "eo", "de", 5), strict=True):
        assert [one.text for one in new[:4]] == [one.text for one in old[:4]]
        assert {one.gloss for one in new} == {None}, "its few sentences do not say what an answer says"


def test_it_is_taught_once_and_again_with_more_captions(index: Path) -> None:
    base = open_version(index)[1].version
    first, _ = teach_index(index, "eo", CAPTIONS[:10], base=base, job="a")
    again, learned = teach_index(index, "eo", CAPTIONS[:10], base=base, job="a")
    assert (again.version, learned) == (first.version, None)
    with pytest.raises(OutdatedError):
        teach_index(index, "eo", CAPTIONS, base=base)
    with pytest.raises(UsageError, match="knows de already"):
        teach_index(index, "de", CAPTIONS)
    second, learned = teach_index(index, "eo", CAPTIONS)
    assert learned is not None
    assert (second.model, second.base) == ("tiny@1-eo", first.version)
    card = (index / VERSIONS / second.version / "encoder" / "README.md").read_text("utf-8")
    assert card.count("Taught afterwards") == 1
