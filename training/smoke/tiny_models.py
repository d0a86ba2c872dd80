"""Small encoders with random weights (seeded), saved as Hugging Face model folders: for tests and --smoke."""

from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import SentencePieceUnigramTokenizer, Tokenizer, processors

XLMR_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")  # in XLM-R's order but <mask>, its last


def write_tiny_backbone(folder: Path, seed: int = 0) -> None:
    """A ResNet."""
    from transformers import ResNetConfig, ResNetModel  # which takes seconds to import
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    torch.manual_seed(seed)
    config = ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 64], depths=[1, 1, 1], layer_type="basic")
    ResNetModel(config).save_pretrained(folder)


def write_tiny_xlmr(folder: Path, texts: Iterable[str], *, vocabulary: int = 500, width: int = 32) -> None:
    """An XLM-R, with a unigram vocabulary learned from `texts`."""
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    tokenizer = SentencePieceUnigramTokenizer()
    tokenizer.train_from_iterator(
        texts,
        vocab_size=vocabulary,
        special_tokens=list(XLMR_SPECIAL),
        unk_token="<unk>",
        show_progress=False,
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    named = dict(
        zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), XLMR_SPECIAL, strict=True)
    )
    PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(tokenizer.to_str()), **named).save_pretrained(
        folder
    )
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=66,
        type_vocab_size=1,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    XLMRobertaModel(config).save_pretrained(folder)
