"""A tiny real sentence-transformers model: random weights, real code."""

from __future__ import annotations

import shutil
from pathlib import Path

WORDS = (
    "heat cool clean put the a an apple mug in on microwave fridge table window room then it "
    "by of look at query passage and take some fire star"
)


def save_tiny_model(folder: Path, *, seed: int = 0, prompts: dict[str, str] | None = None) -> Path:
    """Write a two-layer BERT of 16 dimensions with mean pooling to `folder`."""
    from deltamem_tui.embedding.sentence import quiet

    with quiet():
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import Whitespace
        from tokenizers.processors import TemplateProcessing
        from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

        marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ":", "."]
        vocabulary = {word: number for number, word in enumerate([*marks, *WORDS.split()])}
        tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = Whitespace()
        tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        fast = PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            pad_token="[PAD]",
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            mask_token="[MASK]",
            model_max_length=64,
        )
        torch.manual_seed(seed)
        bert = BertModel(
            BertConfig(
                vocab_size=len(vocabulary),
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=32,
                max_position_embeddings=64,
                initializer_range=0.5,
            )
        )
        raw = folder.with_name(folder.name + ".raw")
        bert.save_pretrained(raw)
        fast.save_pretrained(raw)
        body = Transformer(str(raw))
        model = SentenceTransformer(modules=[body, Pooling(16, pooling_mode="mean")], device="cpu")
        model.prompts.update(prompts or {})
        model.save(str(folder), create_model_card=False)
        shutil.rmtree(raw)
    return folder
