"""TextEncoder: sentences to unit vectors with ONNX Runtime and tokenizers; no torch."""

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime

from index.arrays import Vectors, unit
from index.encoder.bundle import ENCODER_GRAPHS, Bundle, Precision
from index.encoder.taught import read_taught
from index.encoder.tokenizer import BundleTokenizer
from index.encoder.word_list import read_word_list
from index.errors import DamagedError
from index.text.contrasts.meanings import Meanings
from index.text.pre_tokens import Tokens

GRAPH_INPUTS = ("input_ids", "attention_mask")
BATCH_SIZE = 64  # texts encoded at a time
GRAPH_OUTPUT = "sentence_embedding"  # not "embedding", the name that torch gives to an inner node


class TextEncoder:
    """The text encoder of a bundle: sentences and words to unit vectors in one space."""

    def __init__(
        self, bundle: Bundle, *, precision: Precision | Literal["auto"] = "auto", threads: int = 1
    ) -> None:
        """Open a bundle; `precision` "auto" is the one that its manifest recommends; `threads` for one call.

        Raises DamagedError for files that do not match the manifest.
        """
        # More threads for tokenising than `threads` would take cores from other workers.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true" if threads > 1 else "false")
        self.bundle = bundle
        self.name = bundle.name
        self.dimension = bundle.manifest.dimension
        self.precision = bundle.manifest.precision if precision == "auto" else precision
        self.tokenizer = BundleTokenizer.of(bundle)
        self._taught = {code: read_taught(file, self.dimension) for code, file in bundle.taught.items()}
        # Read now, as the files may be removed, and parsed when one is needed, as all would take a second.
        lists = {code: bundle.words(code) for code in bundle.manifest.languages}
        self._word_lists = {code: (file, file.read_bytes()) for code, file in lists.items() if file}
        self._meanings: dict[str, Meanings] = {}
        graph = bundle.folder / ENCODER_GRAPHS[self.precision]
        self._session = _open_session(graph, self.dimension, threads)

    @property
    def vocabulary(self) -> int:
        """The number of tokens."""
        return self.tokenizer.vocabulary

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, without special tokens; each is below `vocabulary`."""
        return self.tokenizer.tokens(texts)

    def encode(self, texts: Sequence[str], *, language: str = "") -> Vectors:
        """Encode texts as (n, d) float32 unit rows.

        `language`, that of all texts, matters only if the encoder was taught it afterwards.
        """
        vectors = self.encode_tokens(Tokens.of(self.tokenizer.encode(texts)))
        return self.as_taught(language, texts, vectors)

    def as_taught(self, language: str, texts: Sequence[str], vectors: Vectors) -> Vectors:
        """Apply what was taught afterwards of a language to the vectors (n, d) of `encode_tokens`."""
        taught = self._taught.get(language)
        return taught(texts, vectors) if taught else vectors

    def encode_tokens(self, tokens: Tokens) -> Vectors:
        """Encode tokenised texts as (n, d) unit rows.

        Texts of similar length share a batch, so that little padding is needed. A row does not depend on the
        other rows of its batch.
        """
        if 0 < len(tokens) <= BATCH_SIZE:
            return self._run(tokens)
        vectors = np.empty((len(tokens), self.dimension), np.float32)
        order = np.argsort(tokens.lengths, kind="stable")
        ordered, begin = tokens.take(order), 0
        for start in range(0, len(order), BATCH_SIZE):
            rows, lengths = (column[start : start + BATCH_SIZE] for column in (order, ordered.lengths))
            end = begin + int(lengths.sum())
            vectors[rows] = self._run(Tokens(ordered.ids[begin:end], lengths))
            begin = end
        return vectors

    def _run(self, tokens: Tokens) -> Vectors:
        """One batch through the graph, padded to its longest text."""
        mask = np.arange(tokens.lengths.max()) < tokens.lengths[:, None]
        ids = np.full(mask.shape, self.tokenizer.pad, np.int64)
        ids[mask] = tokens.ids
        inputs = dict(zip(GRAPH_INPUTS, (ids, mask.astype(np.int64)), strict=True))
        vectors: Vectors = self._session.run([GRAPH_OUTPUT], inputs)[0]
        return vectors

    def word_vectors(self, words: Sequence[str], language: str) -> Vectors:
        """Encode words of a language, without special tokens, as (n, d) float32 unit rows.

        Beside a word's own vector stand those of its translations, where the bundle has any.
        """
        vectors, listed = self._of_tokens(words), self.meanings(language)
        meant = [listed.translations.get(word, {}) if listed else {} for word in words]
        if meanings := sorted(set(chain.from_iterable(meant))):
            beside = dict(zip(meanings, self._of_tokens(meanings), strict=True))
            for row, weights in enumerate(meant):
                for meaning, weight in weights.items():
                    vectors[row] += np.float32(weight) * beside[meaning]
            vectors = unit(vectors)
        return self.as_taught(language, words, vectors)

    def meanings(self, language: str) -> Meanings | None:
        """What the words of a language mean in English, by the bundle; None without a list of them."""
        if language not in self._meanings and language in self._word_lists:
            words = read_word_list(*self._word_lists[language])
            self._meanings[language] = Meanings(language, words.counts, words.translations)
        return self._meanings.get(language)

    def _of_tokens(self, words: Sequence[str]) -> Vectors:
        """Encode words by their tokens alone."""
        rows = [ids or [self.tokenizer.unknown] for ids in self.tokens(words)]
        vectors = self.encode_tokens(Tokens.of(rows))
        # A token that was never trained may be all zeros: any fixed direction will do, but not NaN.
        vectors[np.linalg.norm(vectors, axis=1) <= 1e-12] = self.dimension**-0.5
        return unit(vectors)


def _open_session(path: Path, dimension: int, threads: int) -> Any:  # noqa: ANN401 (onnxruntime is untyped)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base class of their own
        raise DamagedError(f"{path}: ONNX Runtime cannot read it ({error}): export it again") from error
    inputs = {node.name for node in session.get_inputs()}
    outputs = {node.name: node.shape for node in session.get_outputs()}
    if inputs != set(GRAPH_INPUTS) or GRAPH_OUTPUT not in outputs:
        raise DamagedError(
            f"{path}: its inputs and outputs are not {GRAPH_INPUTS} and {GRAPH_OUTPUT}: export it again"
        )
    if isinstance(outputs[GRAPH_OUTPUT][-1], int) and outputs[GRAPH_OUTPUT][-1] != dimension:
        raise DamagedError(
            f"{path}: gives {outputs[GRAPH_OUTPUT][-1]} dimensions, the manifest says {dimension}"
        )
    return session
