"""Which class of transformers a folder names, and classes whose rules no file of a folder has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from digram.errors import VocabError
from digram.formats._classes import PYTHON
from digram.formats._folder import PIECES
from digram.formats.pretrained import content_of

__all__ = ["GEMMA", "GPT2", "LLAMA", "T5", "class_of", "refuse", "refuse_python"]

GEMMA, GPT2, LLAMA, T5 = "GemmaTokenizer", "GPT2Tokenizer", "LlamaTokenizer", "T5Tokenizer"
_CONFIG, _MODEL = "tokenizer_config.json", "config.json"

_OTHER_IDS = frozenset(
    (
        *("BarthezTokenizer", "CamembertTokenizer", "LayoutXLMTokenizer", "MBart50Tokenizer"),
        *("MBartTokenizer", "MLukeTokenizer", "NllbTokenizer", "SeamlessM4TTokenizer"),
        *("XGLMTokenizer", "XLMRobertaTokenizer"),
    )
)
"""Classes that give the pieces of SentencePiece other ids."""
_OTHER_TEXT = frozenset(
    (
        *("AlbertTokenizer", "BigBirdTokenizer", "CodeLlamaTokenizer", "CohereTokenizer"),
        *("CpmTokenizer", "DebertaV2Tokenizer", "FNetTokenizer", "FunnelTokenizer"),
        *("LasrTokenizer", "LayoutLMv2Tokenizer", "MPNetTokenizer", "ParakeetTokenizer"),
        *("PegasusTokenizer", "ReformerTokenizer", "RemBertTokenizer", "RoFormerTokenizer"),
        *("Siglip2Tokenizer", "SplinterTokenizer", "UdopTokenizer", "XLNetTokenizer"),
    )
)
"""Classes that change a text, or put tokens around it, by rules that no file has."""
_OF_MODELS = {
    "albert": "AlbertTokenizer",
    "bert-generation": "BertGenerationTokenizer",
    "bert-japanese": "BertJapaneseTokenizer",
    "bertweet": "BertweetTokenizer",
    "big_bird": "BigBirdTokenizer",
    "biogpt": "BioGptTokenizer",
    "blenderbot-small": "BlenderbotSmallTokenizer",
    "byt5": "ByT5Tokenizer",
    "camembert": "CamembertTokenizer",
    "canine": "CanineTokenizer",
    "clvp": "ClvpTokenizer",
    "code_llama": "CodeLlamaTokenizer",
    "cpmant": "CpmAntTokenizer",
    "ctrl": "CTRLTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
    "esm": "EsmTokenizer",
    "flaubert": "FlaubertTokenizer",
    "fsmt": "FSMTTokenizer",
    **dict.fromkeys(
        (
            *("diffusion_gemma", "gemma", "gemma2", "gemma3", "gemma3_text", "gemma3n"),
            *("gemma3n_text", "recurrent_gemma", "shieldgemma2", "t5gemma", "zaya"),
        ),
        GEMMA,
    ),
    "gpt2": GPT2,
    "gpt-sw3": "GPTSw3Tokenizer",
    "gpt_neox_japanese": "GPTNeoXJapaneseTokenizer",
    "hubert": "Wav2Vec2CTCTokenizer",
    "idefics": LLAMA,
    "idefics2": LLAMA,
    "m2m_100": "M2M100Tokenizer",
    "marian": "MarianTokenizer",
    "mbart": "MBartTokenizer",
    "mbart50": "MBart50Tokenizer",
    "mgp-str": "MgpstrTokenizer",
    "mpnet": "MPNetTokenizer",
    "mt5": T5,
    "musicgen": T5,
    "musicgen_melody": T5,
    "nllb": "NllbTokenizer",
    "nllb-moe": "NllbTokenizer",
    "pegasus": "PegasusTokenizer",
    "perceiver": "PerceiverTokenizer",
    "phobert": "PhobertTokenizer",
    "plbart": "PLBartTokenizer",
    "prophetnet": "ProphetNetTokenizer",
    "rembert": "RemBertTokenizer",
    "roc_bert": "RoCBertTokenizer",
    "roformer": "RoFormerTokenizer",
    "seamless_m4t": "SeamlessM4TTokenizer",
    "siglip": "SiglipTokenizer",
    "speech_to_text": "Speech2TextTokenizer",
    "speecht5": "SpeechT5Tokenizer",
    "splinter": "SplinterTokenizer",
    "switch_transformers": T5,
    "t5": T5,
    "tapas": "TapasTokenizer",
    "vits": "VitsTokenizer",
    "wav2vec2": "Wav2Vec2CTCTokenizer",
    "xglm": "XGLMTokenizer",
    "xlm": "XLMTokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
    "xlnet": "XLNetTokenizer",
}
"""The class by `model_type` in config.json, if none is named."""
_SAME = {"MT5Tokenizer": T5}
"""Names of transformers 4 for classes of other names."""


def class_of(folder: str, config: Mapping[str, Any]) -> str:
    """The class of transformers that is named, without "Fast" at its end; empty if none is.

    `config` is the content of tokenizer_config.json.
    """
    model = content_of(folder, _MODEL)
    named = config.get("tokenizer_class") or model.get("tokenizer_class")
    if not isinstance(named, str):
        kind = model.get("model_type")
        named = _OF_MODELS.get(kind, "") if isinstance(kind, str) else ""
    named = named.removesuffix("Fast")
    return _SAME.get(named, named)


def refuse_python(folder: str) -> None:
    """Raise `VocabError` if a folder without tokenizer.json names a class that is a program.

    Its other files are no tokenizer by themselves, whatever their names are.
    """
    name = class_of(folder, content_of(folder, _CONFIG))
    if name not in PYTHON:
        return
    files = [one for one in (*PIECES, "vocab.txt") if os.path.exists(os.path.join(folder, one))]
    alone = f" To read {files[0]} by the rules of its format, pass its path." if files else ""
    raise VocabError(
        f"the class {name}, which the files of this folder name, is a program in Python, and no "
        "file has its rules.",
        path=folder,
        value=name,
        hint=f"Use this class of transformers.{alone}",
    )


def refuse(folder: str, file: str, name: str) -> None:
    """Raise `VocabError` if a class gives other ids than the file of a folder does by itself."""
    if name in _OTHER_IDS:
        why = f"gives the pieces of {file} other ids than SentencePiece"
    elif name in _OTHER_TEXT:
        why = f"changes a text, or puts tokens around it, by rules that {file} does not have"
    else:
        return
    raise VocabError(
        f"the class {name}, which the files of this folder name, {why}.",
        path=folder,
        value=name,
        hint="Make a tokenizer.json: AutoTokenizer.from_pretrained(folder).save_pretrained(other) "
        f"of transformers. To read {file} by the rules of its format, pass its path.",
    )
