"""An encoder from elsewhere, end to end: imported, indexed, served and asked over HTTP."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from index.build.probes import scenes
from passepartout import run
from tests.sentence_encoders import SPECIAL, make_sentence_encoder
from tests.service.server import serving

EMBEDDINGS = "embeddings.word_embeddings.weight"
LINES = 300  # scenes that are indexed
WIDTH = 128
NORMALIZER, PARTS = BertNormalizer(), BertPreTokenizer()


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
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of scenes in English and German, indexed with the imported encoder."""
    folder = tmp_path_factory.mktemp("imported")
    source, bundle, index = write_encoder(folder / "source"), folder / "bundle", folder / "index"
    assert run(["bundle", "import", str(source), "--out", str(bundle)]) == 0
    corpora = []
    for code in ("en", "de"):
        (folder / f"{code}.txt").write_text("\n".join(scenes(code)[:LINES]), "utf-8")
        corpora += ["--corpus", f"{code}={folder / code}.txt"]
    assert run(["index", "build", "--encoder", str(bundle), *corpora, "--out", str(index)]) == 0
    with serving(index) as (address, _):
        yield address


def ask(address: str, kind: str, asked: dict[str, str], **more: float) -> list[dict[str, Any]]:
    """The German answers to an English sentence or word."""
    body = json.dumps({**asked, "source": "en", "target": "de", **more}).encode()
    request = Request(f"{address}/translate/{kind}", body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=30) as answer:
        answers: list[dict[str, Any]] = json.load(answer)["results"][0]["translations"]["de"]
        return answers


def test_sentences_find_their_translations_and_are_sure_of_them(address: str) -> None:
    pairs = list(zip(scenes("en")[:LINES:10], scenes("de")[:LINES:10], strict=True))
    answers = [ask(address, "sentence", {"text": text})[0] for text, _ in pairs]
    assert [answer["text"] for answer in answers] == [translation for _, translation in pairs]
    assert all(answer["confidence"] > 0.5 for answer in answers)


def test_words_find_theirs(address: str) -> None:
    words = {"dog": "Hund", "woman": "Frau", "beach": "Strand"}
    nearest = {word: ask(address, "word", {"word": word}, min_confidence=0)[0]["text"] for word in words}
    assert nearest == words


def test_what_is_not_there_has_no_answer(address: str) -> None:
    for text in ("The contract must be signed by both parties.", "Prices rose again last month."):
        assert ask(address, "sentence", {"text": text}) == []
        nearest = ask(address, "sentence", {"text": text}, min_confidence=0)
        assert all(answer["confidence"] < 0.1 for answer in nearest)
