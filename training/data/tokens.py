"""The shared BPE vocabulary, and captions as token ids."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor

from index.arrays import Numbers
from index.languages import UNSPACED_LETTERS
from index.text.normalisation import as_encoded, clean
from training.data.settings import TokenizerSettings

TokenIds = NDArray[np.int32]  # the ids of a sentence
Padded = tuple[Tensor, Tensor]  # token ids and mask (N, T)

PAD, UNKNOWN, SEQUENCE, MASK = "<pad>", "<unk>", "<seq>", "<mask>"
SPECIAL_TOKENS = (PAD, UNKNOWN, SEQUENCE, MASK)  # ids 0 to 3, in this order
PAD_ID, UNKNOWN_ID, SEQUENCE_ID, MASK_ID = range(4)
FEW_CHARACTERS = 30_000  # characters of a language that are too few to set the share of the others
# Scripts without spaces are split into characters, as a tokenizer.json has no dictionary.
UNSPACED = "".join(rf"\p{{{script}}}" for script in UNSPACED_LETTERS)

# The Turkish İ is an i with a dot above it in lower case; Turkish writes a plain i.
PLAIN_I = normalizers.Replace("i\N{COMBINING DOT ABOVE}", "i")
# Vowel points and tatweel: some names of pictures have them, as in dictionaries; what people write has none.
NO_POINTS = normalizers.Replace(
    Regex("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]"), ""
)
SUBWORD_CUTS: list[pre_tokenizers.PreTokenizer] = [
    pre_tokenizers.Metaspace(),
    pre_tokenizers.Punctuation(),
    pre_tokenizers.Digits(individual_digits=True),
]
WORD_CUTS: list[pre_tokenizers.PreTokenizer] = [
    pre_tokenizers.WhitespaceSplit(),
    pre_tokenizers.Punctuation("removed"),
    pre_tokenizers.Split(Regex(f"[{UNSPACED}]"), "isolated"),
]


def train_tokenizer(
    texts: Iterable[str], settings: TokenizerSettings, *, sequence_token: bool, max_tokens: int
) -> Tokenizer:
    """Train one tokenizer for all languages: BPE (Sennrich et al. 2016) or whole words.

    Normalises by NFKC, without Hebrew and Arabic vowel points, and, if the recipe says so, to lower case.
    BPE: words keep a mark of the space before them; punctuation and digits stand alone. Words: punctuation
    is dropped, scripts without spaces are split into characters, and words that occur once become <unk>.
    `sequence_token` puts <seq> first, the [SEQ] of globetrotter B.3. Pads with id 0.
    """
    by_words = settings.kind == "words"
    tokenizer = Tokenizer(models.WordLevel(unk_token=UNKNOWN) if by_words else models.BPE(unk_token=UNKNOWN))
    steps: list[normalizers.Normalizer] = [normalizers.NFKC()]
    if settings.lowercase:
        steps += [normalizers.Lowercase(), PLAIN_I]
    steps.append(NO_POINTS)
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(WORD_CUTS if by_words else SUBWORD_CUTS)
    kind = trainers.WordLevelTrainer if by_words else trainers.BpeTrainer
    trainer = kind(
        vocab_size=settings.vocabulary,
        special_tokens=list(SPECIAL_TOKENS),
        min_frequency=2,
        show_progress=False,
    )
    tokenizer.train_from_iterator(map(_read, texts), trainer)
    if sequence_token:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{SEQUENCE} $A", special_tokens=[(SEQUENCE, SEQUENCE_ID)]
        )
    tokenizer.enable_padding(pad_id=PAD_ID, pad_token=PAD)
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def balanced(
    texts: Mapping[str, Sequence[str]], temperature: float | None, few: int = FEW_CHARACTERS
) -> Iterator[str]:
    """Yield the texts that a vocabulary is learned from, by language: all of them without a `temperature`.

    With one, language l contributes the share p_l ∝ n_l^(1/T), n_l the characters of its distinct texts: the
    smallest language all of them, the others an even selection. One with fewer than `few` characters gives
    all and does not decide how much others give.
    """
    if temperature is None:
        yield from chain.from_iterable(texts.values())
        return
    distinct = {language: list(dict.fromkeys(rows)) for language, rows in texts.items()}
    sizes = {language: sum(map(len, rows)) for language, rows in distinct.items()}
    least = max(few, min(sizes.values()))
    for language, rows in distinct.items():
        count = round(len(rows) * (max(least, sizes[language]) / least) ** (1 / temperature - 1))
        yield from (rows[number * len(rows) // count] for number in range(count))


def tokenize(tokenizer: Tokenizer, texts: Sequence[str]) -> list[TokenIds]:
    """Token ids of each text as a bundle reads it, with special tokens, without pads; of no tokens, <unk>.

    Repeated texts are tokenised once.
    """
    distinct, rows = list(dict.fromkeys(texts)), dict[str, TokenIds]()
    for start in range(0, len(distinct), 4096):
        part = distinct[start : start + 4096]
        for text, encoding in zip(part, tokenizer.encode_batch(list(map(_read, part))), strict=True):
            real_ids = [
                i for i, is_real in zip(encoding.ids, encoding.attention_mask, strict=True) if is_real
            ]
            rows[text] = np.asarray(real_ids or [UNKNOWN_ID], dtype=np.int32)
    return [rows[text] for text in texts]


def _read(text: str) -> str:
    """A text as the bundle of a run reads it."""
    return as_encoded(clean(text))


def pad(rows: Sequence[TokenIds], device: torch.device) -> Padded:
    """Pad rows of token ids: ids and attention mask (N, T), int64, T the longest row."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, PAD_ID, dtype=np.int64)
    ids[mask] = np.concatenate(rows)
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask.astype(np.int64)).to(device)


def by_length(
    captions: Numbers, tokens: Sequence[TokenIds], groups: int
) -> tuple[Numbers, tuple[tuple[int, int], ...]]:
    """Sort captions by length and divide them into at most `groups` groups with the least padding.

    Returns the sorted captions and (captions, longest) of each group. The encoder embeds group by group, so
    that short captions are not padded to the longest of the batch; the losses see the whole batch.
    """
    lengths = np.asarray([len(tokens[i]) for i in captions])
    distinct_lengths, counts = np.unique(lengths, return_counts=True)
    edges = _cheapest_edges(distinct_lengths, np.concatenate([[0], np.cumsum(counts)]), groups)
    rows = np.diff([0, *np.cumsum(counts)[np.asarray(edges) - 1]])
    spans = tuple((int(n), int(distinct_lengths[edge - 1])) for n, edge in zip(rows, edges, strict=True))
    return captions[np.argsort(lengths, kind="stable")], spans


def _cheapest_edges(lengths: Numbers, rows_before: Numbers, groups: int) -> list[int]:
    """The ends of the cheapest groups of L sorted lengths; `rows_before[i]` rows have the first i lengths.

    By dynamic programming over the last cut: a group of lengths i to j - 1 costs its rows times
    lengths[j - 1].
    """
    cost = (rows_before[None, :] - rows_before[:, None]) * np.concatenate([[0], lengths])[None, :].astype(
        np.float64
    )
    cost[np.tril_indices(len(rows_before))] = np.inf
    cost[0, 0] = 0
    best, cuts = cost[0], []
    for _ in range(min(groups, len(lengths)) - 1):
        total = best[:, None] + cost
        cuts.append(total.argmin(axis=0))
        best = total.min(axis=0)
    edges = [len(lengths)]
    for cut in reversed(cuts):
        edges.append(int(cut[edges[-1]]))
    return [edge for edge in reversed(edges) if edge]
