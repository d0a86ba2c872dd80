"""An encoder from elsewhere, end to end: imported, indexed and asked."""

from collections import Counter
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from index.answers.translator import Translator
from index.build.probes import scenes
from index.confidence import MIN_CONFIDENCE
from passepartout import run
from tests.sentence_encoders import SPECIAL, make_sentence_encoder

EMBEDDINGS = "embeddings.word_embeddings.weight"
LINES = 300  # scenes that are indexed
WIDTH = 128
NORMALIZER, PARTS = BertNormalizer(), BertPreTokenizer()
pytestmark = pytest.mark.slow  # torch exports


def write_encoder(folder: Path) -> Path:
    """A BERT that knows words of scenes: a word's vector is the sum of those of the lines that it is in, and
    corresponding lines have one vector in both languages."""
    counts = {code: [Counter(_words(line)) for line in scenes(code)] for code in ("en", "de")}
    words = sorted({word for lines in counts.values() for line in lines for word in line})
    make_sentence_encoder(folder, words=words, width=WIDTH)
    rows = {word: row for row, word in enumerate(words, start=len(SPECIAL))}
    torch.manual_seed(1)
    topics = torch.randn(len(counts["en"]), WIDTH)
    weights = load_file(folder / "model.safetensors")
    table = torch.zeros_like(weights[EMBEDDINGS])
    for lines in counts.values():
        for topic, line in zip(topics, lines, strict=True):
            for word in line:
                table[rows[word]] += topic
    in_lines = Counter(word for lines in counts.values() for line in lines for word in line)
    table[len(SPECIAL) :] /= torch.tensor([[float(in_lines[word])] for word in words])
    save_file(weights | {EMBEDDINGS: table}, folder / "model.safetensors", {"format": "pt"})
    return folder


def _words(line: str) -> list[str]:
    """As the tokenizer divides it."""
    return [word for word, _ in PARTS.pre_tokenize_str(NORMALIZER.normalize_str(line))]


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """Scenes in English and German, indexed with the imported encoder."""
    folder = tmp_path_factory.mktemp("imported")
    source, bundle, index = write_encoder(folder / "source"), folder / "bundle", folder / "index"
    assert run(["bundle", "import", str(source), "--out", str(bundle)]) == 0
    corpora = []
    for code in ("en", "de"):
        (folder / f"{code}.txt").write_text("\n".join(scenes(code)[:LINES]), "utf-8")
        corpora += ["--corpus", f"{code}={folder / code}.txt"]
    assert run(["index", "build", "--encoder", str(bundle), *corpora, "--out", str(index)]) == 0
    return Translator.open(index)


def test_sentences_find_their_translations_and_are_sure_of_them(translator: Translator) -> None:
    texts, translations = (scenes(code)[:LINES:10] for code in ("en", "de"))
    answers = [row[0] for row in translator.sentences(texts, "en", "de")]
    assert [answer.text for answer in answers] == translations
    assert all(answer.confidence > MIN_CONFIDENCE for answer in answers)


def test_words_find_theirs(translator: Translator) -> None:
    words = {"dog": "Hund", "woman": "Frau", "beach": "Strand"}
    assert [row[0].text for row in translator.words(list(words), "en", "de")] == list(words.values())


def test_what_is_not_there_has_no_answer(translator: Translator) -> None:
    texts = ["The contract must be signed by both parties.", "Prices rose again last month."]
    for row in translator.sentences(texts, "en", "de"):
        assert all(answer.confidence < 0.1 for answer in row)
