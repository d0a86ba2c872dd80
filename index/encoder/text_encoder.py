"""TextEncoder: sentences to unit vectors with ONNX Runtime and tokenizers; no torch."""

import os
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Encoding, Tokenizer

from index.encoder.bundle import Bundle
from index.errors import DamagedError, UsageError
from index.text.normalisation import clean
from index.text.pre_tokens import Memory, Recent, Tokens

Vectors = NDArray[np.float32]
Precision = Literal["auto", "fp32", "int8"]

# No word is this long, so nothing that a model could still see is cut off before tokenising.
CHARACTERS_A_TOKEN = 64
INPUTS = ("input_ids", "attention_mask")
MEANS = 4096  # words at a time
OUTPUT = "sentence_embedding"  # "embedding" is what torch calls a node inside


class TextEncoder:
    """The text encoder of a bundle: sentences and words to unit vectors in one space."""

    def __init__(self, bundle: Bundle, *, precision: Precision = "auto", threads: int = 1) -> None:
        """`precision` "auto" takes what the bundle's manifest recommends; `threads` is for one call."""
        # Tokenising in more threads than we were given would steal cores from other workers.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true" if threads > 1 else "false")
        self.bundle = bundle
        self.dimension = bundle.manifest.dimension
        self.name = bundle.name
        self.precision = bundle.manifest.precision if precision == "auto" else precision
        self._session = _open_session(_graph(bundle, self.precision), self.dimension, threads)
        self._tokenizer = _open_tokenizer(bundle.tokenizer)
        padding = self._tokenizer.padding
        self._pad = int(padding["pad_id"]) if padding else 0
        self._unknown = _unknown(self._tokenizer, self._pad)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(bundle.manifest.max_tokens)
        self.longest = bundle.manifest.max_tokens * CHARACTERS_A_TOKEN
        self._embeddings: NDArray[np.float16] | None = None  # read when the first word is asked for

    def encode(
        self, texts: Sequence[str], batch_size: int = 64, progress: Callable[[int], None] | None = None
    ) -> Vectors:
        """Texts -> (n, d) float32 rows of unit norm, in the order of `texts`.

        Texts of similar length share a batch, so that little is padded; a row does not depend on the
        others in its batch. `progress` is called with the number of texts done after each batch.
        """
        return self.encode_tokens(self.whole_tokens(texts), batch_size, progress)

    def whole_tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text as the encoder reads them, special tokens included; none empty."""
        return _whole_tokens(self._tokenizer, self.longest, self._unknown, texts)

    @cached_property
    def memory(self) -> Memory:
        """What gives the `whole_tokens` of a corpus, where few words make up many texts."""
        # Not `self.whole_tokens`: what refers back to us would keep us until Python looks for cycles.
        whole = partial(_whole_tokens, self._tokenizer, self.longest, self._unknown)
        return Memory(self._tokenizer, whole, self.longest, self.bundle.manifest.max_tokens)

    @cached_property
    def recent(self) -> Recent:
        """What gives the `whole_tokens` of a few texts at a time, of people who write the same words."""
        return Recent(self.memory)

    def encode_tokens(
        self,
        tokens: Sequence[list[int]] | Tokens,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> Vectors:
        """What `whole_tokens` gives -> (n, d), as `encode`."""
        given = tokens if isinstance(tokens, Tokens) else Tokens.of(tokens)
        if len(given) <= batch_size and len(given):
            found = self._run(given.every, given.lengths)
            if progress:
                progress(len(found))
            return found
        found = np.empty((len(given), self.dimension), np.float32)
        order = np.argsort(given.lengths, kind="stable")
        ordered = given.take(order)
        ends = np.cumsum(ordered.lengths)
        for start in range(0, len(order), batch_size):
            rows = slice(start, start + batch_size)
            lengths = ordered.lengths[rows]
            end = ends[rows][-1]
            found[order[rows]] = self._run(ordered.every[end - lengths.sum() : end], lengths)
            if progress:
                progress(len(lengths))
        return found

    def word_vectors(self, words: Sequence[str], language: str) -> Vectors:
        """Words of a language -> (n, d) float32 unit rows: the mean of each word's token embeddings, or what
        the encoder gives for them where the bundle has no embeddings.

        The language matters where tokens have an embedding in each; in one that the bundle does not know,
        their mean over all languages counts.
        """
        return self._of_words(self.tokens(words), language)

    def piece_vectors(self, pieces: Sequence[str], language: str) -> Vectors:
        """Tokens as `pieces` gives them -> (n, d) float32 unit rows: as `word_vectors`."""
        numbers = (self._tokenizer.token_to_id(piece) for piece in pieces)
        tokens = [[self._unknown if number is None else number] for number in numbers]
        return self._of_words(tokens, language)

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, special tokens left out; each below `vocabulary`."""
        return [encoding.ids for encoding in _tokenized(self._tokenizer, self.longest, texts, special=False)]

    @cached_property
    def special(self) -> NDArray[np.int64]:
        """The tokens that are added to every text."""
        return np.unique(np.array(self._tokenizer.encode("").ids, np.int64))

    def pieces(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of each text as the vocabulary spells them, special tokens left out."""
        return [[self._spellings[number] for number in numbers] for numbers in self.tokens(texts)]

    def _of_words(self, tokens: Sequence[Sequence[int]], language: str) -> Vectors:
        rows = [list(numbers) or [self._unknown] for numbers in tokens]
        file = self.bundle.embeddings
        found = self.encode_tokens(rows) if file is None else self._means(file, rows, language)
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        # A token never trained may be all zeros: any fixed direction is as good, NaN would not be.
        return np.where(norms > 1e-12, found / np.maximum(norms, 1e-12), np.float32(self.dimension**-0.5))

    def _means(self, file: Path, tokens: Sequence[list[int]], language: str) -> Vectors:
        table = self._table(file, language)
        found = np.empty((len(tokens), self.dimension), np.float32)
        for start in range(0, len(tokens), MEANS):
            given = Tokens.of(tokens[start : start + MEANS])
            begins = np.cumsum(given.lengths) - given.lengths
            sums = np.add.reduceat(table[given.every].astype(np.float32), begins, axis=0)
            found[start : start + MEANS] = sums / given.lengths[:, None]
        return found

    @property
    def vocabulary(self) -> int:
        """The number of tokens there are."""
        return self._tokenizer.get_vocab_size()

    def _run(self, tokens: NDArray[np.int64], lengths: NDArray[np.int64]) -> Vectors:
        """The tokens of texts, all in one row, and how many each has -> (n, d)."""
        there = np.arange(lengths.max()) < lengths[:, None]
        ids = np.full(there.shape, self._pad, np.int64)
        ids[there] = tokens
        mask = there.astype(np.int64)
        vectors: Vectors = self._session.run([OUTPUT], dict(zip(INPUTS, (ids, mask), strict=True)))[0]
        return vectors

    @cached_property
    def _spellings(self) -> list[str]:
        return [self._tokenizer.id_to_token(number) or "" for number in range(self.vocabulary)]

    def _table(self, file: Path, language: str) -> NDArray[np.float16]:
        """(vocabulary, d), the embeddings of the tokens in a language."""
        if self._embeddings is None:
            self._embeddings = self._read_embeddings(file)
        every, known = self._embeddings, self.bundle.manifest.languages
        number = 0 if len(every) == 1 else known.index(language) if language in known else None
        table: NDArray[np.float16] = every.mean(axis=0) if number is None else every[number]
        return table

    def _read_embeddings(self, file: Path) -> NDArray[np.float16]:
        """(1 or languages, vocabulary, d)."""
        try:
            table = load_file(file)["embeddings"]
        except (SafetensorError, KeyError) as error:
            raise DamagedError(f"{file}: no tensor `embeddings`: export it again") from error
        wanted = (self.vocabulary, self.dimension)
        every = table[None] if table.ndim == 2 else table
        fits = every.ndim == 3 and every.shape[1] >= wanted[0] and every.shape[2] == wanted[1]
        if not fits or (table.ndim == 3 and len(every) != len(self.bundle.manifest.languages)):
            raise DamagedError(
                f"{file}: shape {table.shape}, not {wanted} or that for each of "
                f"{len(self.bundle.manifest.languages)} languages: export it again"
            )
        return every


def _whole_tokens(tokenizer: Tokenizer, longest: int, unknown: int, texts: Sequence[str]) -> list[list[int]]:
    found = _tokenized(tokenizer, longest, texts, special=True)
    return [encoding.ids or [unknown] for encoding in found]


def _tokenized(tokenizer: Tokenizer, longest: int, texts: Sequence[str], *, special: bool) -> list[Encoding]:
    """The tokens of each text, of which at most `longest` characters are looked at."""
    cut = [clean(text[:longest]) for text in texts]
    return tokenizer.encode_batch_fast(cut, add_special_tokens=special)


def _graph(bundle: Bundle, precision: str) -> Path:
    found = bundle.encoder if precision == "fp32" else bundle.encoder_int8
    if found is None:
        has = bundle.manifest.precision
        bits = "32" if precision == "fp32" else "8"
        raise UsageError(f"{bundle.folder} has no {bits}-bit encoder: use --precision {has}")
    return found


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
    if inputs != set(INPUTS) or OUTPUT not in outputs:
        raise DamagedError(f"{path}: its inputs and outputs are not {INPUTS} and {OUTPUT}: export it again")
    if isinstance(outputs[OUTPUT][-1], int) and outputs[OUTPUT][-1] != dimension:
        raise DamagedError(f"{path}: gives {outputs[OUTPUT][-1]} dimensions, the manifest says {dimension}")
    return session


def _open_tokenizer(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises plain Exception
        raise DamagedError(f"{path}: tokenizers cannot read it ({error}): export it again") from error


def _unknown(tokenizer: Tokenizer, pad: int) -> int:
    """The token that stands for a text without tokens."""
    name = getattr(tokenizer.model, "unk_token", None)
    found = tokenizer.token_to_id(name) if name else None
    return pad if found is None else found
