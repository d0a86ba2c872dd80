"""A tiny encoder bundle and corpus for tests: a real ONNX bag of words whose languages share a space.

Words of one concept have nearly the same vector in every language, so that translation by retrieval works.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from index.arrays import unit
from index.confidence.models import Model, Models
from index.encoder.bundle import (
    PICTURES,
    Bundle,
    BundleManifest,
    Origin,
    publish_bundle,
    staging_folder,
    words_file,
)
from index.encoder.pictures import packed
from index.encoder.word_list import WordList, write_word_list

LANGUAGES = ("en", "de", "pt", "zh", "ar")
NOUNS = (
    "dog hund cão 狗 كلب|cat katze gato 猫 قطة|child kind criança 孩子 طفل|man mann homem 男人 رجل|"
    "woman frau mulher 女人 امرأة|horse pferd cavalo 马 حصان|bird vogel pássaro 鸟 طائر|"
    "boy junge menino 男孩 ولد"
)
VERBS = (
    "runs rennt corre 跑 يركض|sleeps schläft dorme 睡 ينام|jumps springt salta 跳 يقفز|"
    "eats isst come 吃 يأكل|sits sitzt senta 坐 يجلس|plays spielt brinca 玩 يلعب"
)
PLACES = (
    "beach strand praia 海滩 شاطئ|street straße rua 街道 شارع|snow schnee neve 雪 ثلج|"
    "park park parque 公园 حديقة|water wasser água 水 ماء|field feld campo 田野 حقل"
)
ADJECTIVES = (
    "small klein pequeno 小 صغير|big groß grande 大 كبير|black schwarz preto 黑 أسود|"
    "white weiß branco 白 أبيض|brown braun marrom 棕 بني"
)
TEMPLATES = {
    "en": "A {adjective} {noun} {verb} on the {place}.",
    "de": "Der {noun} ist {adjective} und {verb}: {place}.",
    "pt": "O {noun} {adjective} {verb} na {place}.",
    "zh": "{adjective}的{noun}在{place}{verb}。",
    "ar": "{noun} {adjective} {verb} في {place}.",
}
# Emoji of nouns and places, as code points.
DRAWN = {"dog": "1f415", "cat": "1f408", "horse": "1f40e", "bird": "1f426", "beach": "1f3d6", "snow": "2744"}
FILLERS = ["a", "on", "the", "der", "ist", "und", "o", "na", "的", "在", "في", ".", ":", "。"]
# Not fitted, like the bundle itself; a build asks no probes of it.
CALIBRATION = Models(
    sentence=Model(weights={"score": 8.0}, bias=0.5, n=0),
    paraphrase=Model(weights={"cosine": 20.0}, bias=-16.0, n=0),
    word=Model(
        weights={"cosine": 1.7, "score": 1.3, "gap": 3.0, "shortfall": 4.0, "rarer": 1.0}, bias=-0.8, n=0
    ),
    gloss=Model(weights={"score": 8.0}, bias=0.5, n=0),
)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]")


def _concepts(lines: str) -> list[dict[str, str]]:
    return [dict(zip(LANGUAGES, line.split(), strict=True)) for line in lines.split("|")]


def lexicon() -> list[dict[str, str]]:
    """The concepts, each as language -> word."""
    return [concept for lines in (NOUNS, VERBS, PLACES, ADJECTIVES) for concept in _concepts(lines)]


def sentences(language: str) -> list[str]:
    """Every sentence of the grammar in one language; line i says the same in each."""
    found = []
    scenes = product(*map(_concepts, (NOUNS, VERBS, PLACES, ADJECTIVES)))
    for noun, verb, place, adjective in scenes:
        parts = {"noun": noun, "verb": verb, "place": place, "adjective": adjective}
        words = {name: concept[language] for name, concept in parts.items()}
        found.append(TEMPLATES[language].format(**words))
    return found


def make_corpus(folder: Path, languages: Sequence[str] = LANGUAGES, count: int = 200) -> dict[str, Path]:
    """Aligned sentences, one file a language, evenly drawn from the grammar; returns language -> file."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for language in languages:
        every = sentences(language)
        lines = [every[number * len(every) // count] for number in range(min(count, len(every)))]
        files[language] = folder / f"{language}.txt"
        files[language].write_text("\n".join(lines) + "\n", "utf-8")
    return files


def unit_rows(seed: int | np.random.Generator, count: int, dimension: int = 8) -> NDArray[np.float32]:
    """Random unit rows, (count, dimension)."""
    return unit(np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32))


def make_bundle(
    folder: Path,
    *,
    languages: Sequence[str] = LANGUAGES,
    dimension: int = 48,
    noise: float = 0.1,
    seed: int = 0,
    name: str = "tiny",
    version: str = "1",
    int8: bool = False,
    pictograms: bool = True,
    calibration: Models = CALIBRATION,
) -> Bundle:
    """Build and publish a bundle at `folder`; `noise` is how far the words of one concept lie apart. With
    `int8` it has the 8-bit graph alone."""
    vocabulary, table = _embeddings(languages, dimension, noise, np.random.default_rng(seed))
    staging = folder.with_name(folder.name + ".staging")
    (staging / "words").mkdir(parents=True)
    _tokenizer(vocabulary).save(str(staging / "tokenizer.json"))
    onnx.save(_graph(table, int8=int8), staging / ("encoder.int8.onnx" if int8 else "encoder.onnx"))
    if pictograms:
        shown = [concept for concept in lexicon() if concept["en"] in DRAWN]
        drawn = unit(table[[vocabulary[concept[languages[0]]] for concept in shown]])
        names = [f"pictograms/{DRAWN[concept['en']]}" for concept in shown]
        (staging / PICTURES).write_bytes(packed(names, drawn))
    for language in languages:
        counts = {concept[language]: 100 - rank for rank, concept in enumerate(lexicon())}
        write_word_list(WordList(counts, {}), staging / words_file(language))
    (staging / "README.md").write_text("# tiny\nA bundle for tests.\n", "utf-8")
    manifest = BundleManifest(
        name=name,
        version=version,
        licence="Apache-2.0",
        languages=tuple(languages),
        dimension=dimension,
        max_tokens=32,
        precision="int8" if int8 else "fp32",
        recipe=Origin(name="test", sha256="0" * 64),
        data=Origin(name="test", sha256="1" * 64),
        calibration=calibration,
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return publish_bundle(staging, folder, manifest)


def republished(bundle: Bundle, folder: Path, name: str, content: bytes) -> Bundle:
    """The bundle again, with one file replaced and everything sealed: valid outside, maybe wrong inside."""
    with staging_folder(folder / "bundle", bundle.folder) as staging:
        (staging / name).write_bytes(content)
        return publish_bundle(staging, folder / "bundle", bundle.manifest)


def _embeddings(
    languages: Sequence[str], dimension: int, noise: float, random: np.random.Generator
) -> tuple[dict[str, int], NDArray[np.float32]]:
    """Tokens and their vectors (vocabulary, d): concepts far apart, languages near, all else near zero."""
    small = 0.05 / np.sqrt(dimension)
    # Small, not zero: even a text without words or of unknown words must have a direction.
    vectors = {token: small * random.standard_normal(dimension) for token in SPECIAL}
    for concept in lexicon():
        centre = random.standard_normal(dimension) / np.sqrt(dimension)
        for language in languages:
            near = centre + noise * random.standard_normal(dimension) / np.sqrt(dimension)
            # Chinese is tokenised a character at a time.
            for token in concept[language] if language == "zh" else [concept[language]]:
                vectors[token] = vectors.get(token, 0) + near
    letters = sorted({letter for token in vectors if token not in SPECIAL for letter in token})
    for token in [*FILLERS, *letters, *("##" + letter for letter in letters)]:
        vectors.setdefault(token, small * random.standard_normal(dimension))
    table = np.stack(list(vectors.values())).astype(np.float32)
    return {token: number for number, token in enumerate(vectors)}, table


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.BertNormalizer(strip_accents=False, lowercase=True)]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 2)])
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    return tokenizer


def _graph(table: NDArray[np.float32], int8: bool = False) -> onnx.ModelProto:
    """input_ids, attention_mask -> sentence_embedding: masked mean of token vectors, to unit norm."""
    weights = [numpy_helper.from_array(table, "table")]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    if int8:
        scale = np.float32(np.abs(table).max() / 127)
        weights = [
            numpy_helper.from_array(np.rint(table / scale).astype(np.int8), "table"),
            numpy_helper.from_array(np.asarray(scale), "scale"),
        ]
        nodes = [
            helper.make_node("Gather", ["table", "input_ids"], ["codes"]),
            helper.make_node("DequantizeLinear", ["codes", "scale"], ["tokens"]),
        ]
    nodes += [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["tokens", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "middle"], ["sum"], keepdims=0),
        helper.make_node("ReduceL2", ["sum", "last"], ["norm"], keepdims=1),
        helper.make_node("Max", ["norm", "tiny"], ["safe"]),
        helper.make_node("Div", ["sum", "safe"], ["sentence_embedding"]),
    ]
    constants = [("last", np.array([-1])), ("middle", np.array([1])), ("tiny", np.array([1e-12], np.float32))]
    graph = helper.make_graph(
        nodes,
        "bag",
        [
            helper.make_tensor_value_info(i, TensorProto.INT64, ["n", "t"])
            for i in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["n", table.shape[1]])],
        [*weights, *(numpy_helper.from_array(value, name) for name, value in constants)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.checker.check_model(model)
    return model
