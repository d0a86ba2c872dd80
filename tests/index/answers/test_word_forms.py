"""Words are written as the corpus writes them."""

from pathlib import Path

from index.answers.translator import Translator
from index.build.build_index import build_index
from index.encoder.bundle import Bundle

GERMAN = ["Hund und Katze spielen.", "Ein Hund rennt.", "Der große Hund schläft.", "Große Hunde rennen."]
ENGLISH = ["A dog and a cat play.", "A dog runs.", "The big dog sleeps.", "Big dogs run fast."]


def test_words_have_the_form_and_the_sentences_of_the_corpus(bundle: Bundle, tmp_path: Path) -> None:
    for code, lines in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / f"{code}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    build_index(bundle, {code: tmp_path / f"{code}.txt" for code in ("de", "en")}, tmp_path / "index")
    translator = Translator.open(tmp_path / "index")
    answers = {match.id: match for match in translator.words(["dog"], "en", "de", 1000)[0]}
    dog, big = answers["de:word:hund"], answers["de:word:große"]
    assert dog.text == "Hund"
    assert dog.examples == tuple(GERMAN[:2])
    assert big.text == "große", "the first word of a sentence has its capital from there"
    assert big.examples == (GERMAN[2], GERMAN[3])
    assert all(match.examples is None for match in translator.sentences(["A dog."], "en", "de")[0])
