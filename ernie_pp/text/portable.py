"""The tokenizer as a file of the Rust `tokenizers` library, for our WordPiece and for programs of the user's own."""

# The library's type stubs lack its setters and constructor arguments.
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Sequence

import tokenizers
from tokenizers import Regex, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece

from ernie_pp.text.vocabulary import ids_by_token
from ernie_pp.text.wordpiece import MAX_WORD_CHARACTERS

# Names an id whose token stands again later; no word contains a blank or a bracket, so none meets it.
_SHADOWED = "[shadowed {index}] {token}"
# ERNIE drops what is unassigned, private or invisible, and splits on symbols too, which BERT does not.
_DROPPED = r"[\p{Cn}\p{Co}\p{Cf}]"
_SYMBOLS = "[\\p{S}\u00b2\u00ba\u3007\u00b5\u00d8\u014b\u01b1]"


def build_portable(tokens: Sequence[str]) -> tokenizers.Tokenizer:
    """A complete `tokenizers.Tokenizer` with the vocabulary `tokens`.

    Used alone it gives our ids on all ordinary text, unless a normalization is on: that comes first and is no part of
    it. Rare scripts may differ where its Unicode tables are of another age than Python's. `[MASK]` in a text is text
    to it, as it is to us.
    """
    vocab = ids_by_token(tokens)
    shadowed = {_SHADOWED.format(index=i, token=token): i for i, token in enumerate(tokens) if vocab[token] != i}
    model = WordPiece(vocab | shadowed, unk_token="[UNK]", max_input_chars_per_word=MAX_WORD_CHARACTERS)
    portable = tokenizers.Tokenizer(model)
    bert = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True)
    portable.normalizer = normalizers.Sequence([normalizers.Replace(Regex(_DROPPED), ""), bert])
    portable.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Split(Regex(_SYMBOLS), "isolated")]
    )
    portable.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocab[token]) for token in ("[CLS]", "[SEP]")],
    )
    portable.decoder = decoders.WordPiece()
    return portable


def tokens_of(portable: tokenizers.Tokenizer) -> tuple[str, ...]:
    """The vocabulary `build_portable` was given."""
    tokens = sorted(portable.get_vocab().items(), key=lambda item: item[1])
    return tuple(
        token.partition("] ")[2] if token == _SHADOWED.format(index=index, token=token.partition("] ")[2]) else token
        for token, index in tokens
    )
