"""Text to tokens and back to places in the text."""

from ernie_pp.text.encoding import EncodedRows, Encoding
from ernie_pp.text.normalize import Normalization, NormalizedText, normalize
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.vocabulary import read_vocab

__all__ = ["EncodedRows", "Encoding", "Normalization", "NormalizedText", "Tokenizer", "normalize", "read_vocab"]
