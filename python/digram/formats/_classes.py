"""What a class of transformers 5 sets where a folder says nothing: inputs and side of padding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from digram.vocab.settings import Side

__all__ = ["INPUTS", "PYTHON", "Usual", "taken", "usual"]

INPUTS = ("input_ids", "attention_mask")
_TYPED = ("input_ids", "token_type_ids", "attention_mask")
_TYPED_LAST = ("input_ids", "attention_mask", "token_type_ids")

_FAST = "Fast"


class Usual(NamedTuple):
    """The `model_input_names` and the `padding_side` of a class of tokenizers."""

    inputs: tuple[str, ...] = INPUTS
    padding_side: Side = "right"


_CLASSES = {
    **dict.fromkeys(
        (
            *("BertTokenizer", "ConvBertTokenizer", "DPRContextEncoderTokenizer"),
            *("DPRQuestionEncoderTokenizer", "ElectraTokenizer", "LayoutLMTokenizer"),
            *("LxmertTokenizer", "MarkupLMTokenizer", "MobileBertTokenizer"),
            "SqueezeBertTokenizer",
        ),
        Usual(_TYPED),
    ),
    **dict.fromkeys(
        (
            *("CanineTokenizer", "DebertaTokenizer", "DebertaV2Tokenizer", "LayoutLMv2Tokenizer"),
            "TapasTokenizer",
        ),
        Usual(_TYPED_LAST),
    ),
    "FNetTokenizer": Usual(("input_ids", "token_type_ids")),
    **dict.fromkeys(
        (
            *("CodeLlamaTokenizer", "CohereTokenizer", "GemmaTokenizer", "LlamaTokenizer"),
            *("Phi3Tokenizer", "Siglip2Tokenizer", "XLNetTokenizer"),
        ),
        Usual(padding_side="left"),
    ),
}
"""The classes that differ from all others, without the "Fast" at the end of their names."""

PYTHON = frozenset(
    (
        *("BartphoTokenizer", "BertGenerationTokenizer", "BertJapaneseTokenizer"),
        *("BertweetTokenizer", "BioGptTokenizer", "BlenderbotSmallTokenizer", "ByT5Tokenizer"),
        *("CTRLTokenizer", "CanineTokenizer", "ClvpTokenizer", "CpmAntTokenizer", "DiaTokenizer"),
        *("ErnieMTokenizer", "EsmTokenizer", "FSMTTokenizer", "FastSpeech2ConformerTokenizer"),
        *("FlaubertTokenizer", "GPTNeoXJapaneseTokenizer", "GPTSanJapaneseTokenizer"),
        *("GPTSw3Tokenizer", "JukeboxTokenizer", "M2M100Tokenizer", "MarianTokenizer"),
        *("MgpstrTokenizer", "MyT5Tokenizer", "PLBartTokenizer", "PerceiverTokenizer"),
        *("PhobertTokenizer", "ProphetNetTokenizer", "RoCBertTokenizer", "SiglipTokenizer"),
        *("Speech2Text2Tokenizer", "Speech2TextTokenizer", "SpeechT5Tokenizer", "TapasTokenizer"),
        *("TapexTokenizer", "TransfoXLTokenizer", "VitsTokenizer", "Wav2Vec2CTCTokenizer"),
        *("Wav2Vec2PhonemeCTCTokenizer", "XLMProphetNetTokenizer", "XLMTokenizer"),
    )
)
"""Classes that are programs in Python alone, of which there is no tokenizer.json."""

_OF_MODELS = {
    **dict.fromkeys(
        (
            *("align", "bark", "bert", "blip", "bros", "chinese_clip", "convbert", "distilbert"),
            *("dpr", "electra", "ernie", "flava", "git", "grounding-dino", "layoutlm", "lxmert"),
            *("markuplm", "megatron-bert", "mm-grounding-dino", "mobilebert", "nomic_bert"),
            *("squeezebert", "tvp", "vilt", "visual_bert"),
        ),
        "BertTokenizer",
    ),
    **dict.fromkeys(("canine", "deberta", "deberta-v2", "layoutlmv2", "tapas"), "TapasTokenizer"),
    "fnet": "FNetTokenizer",
    **dict.fromkeys(
        (
            *("aya_vision", "cohere", "cohere2", "diffusion_gemma", "gemma", "gemma2", "gemma3"),
            *("gemma3_text", "gemma3n", "gemma3n_text", "idefics", "idefics2"),
            *("recurrent_gemma", "shieldgemma2", "siglip2", "t5gemma", "xlnet", "zaya"),
        ),
        "LlamaTokenizer",
    ),
}
"""A class with the same inputs and side, by `model_type` in config.json, if no class is named."""

_NOT_AS_NAMED = frozenset(
    (
        *("EvollaModel", "arctic", "aria", "beam", "bigbird_pegasus", "camembertv2-base", "canary"),
        *("chatlm", "cohere_asr", "ernie4_5", "ernie4_5_moe", "flex_olmo", "fuyu", "glm", "glm4"),
        *("glm4_moe", "glm4_moe_lite", "glm4v", "glm4v_moe", "glm_image", "glmasr", "got_ocr2"),
        *("gpt_bigcode", "gradium_phonon_tts", "granite", "granitemoe", "granitemoehybrid"),
        *("granitemoeshared", "h2ovl_chat", "hyperclovax", "hyperclovax_vision_v2"),
        *("hyperclovax_vlm", "internlm2", "internlm3", "iquestcoder", "jamba", "kimi_k25"),
        *("kimi_linear", "kosmos-2", "llava", "llava_next", "mimo_v2_flash", "minicpm3"),
        *("minicpm_ocr", "minicpmv", "minicpmv4_6", "minicpmv4_7", "minimax_m2", "ministral"),
        *("ministral3", "mistral", "mistral3", "mistral_large4", "mixtral", "modernbert"),
        *("modernbert-decoder", "molmo", "molmo2", "nemo_speechlm", "nemotron", "nvfp4"),
        *("nystromformer", "olmo2", "olmo3", "olmo_hybrid", "omniasr", "opencua", "openvla"),
        *("paddleocr_vl", "pegasus_x", "persimmon", "phi3", "phi3_v", "phimoe", "pix2struct"),
        *("pixtral", "pocket_tts", "qwen2", "qwen3_5", "qwen3_5_moe", "qwen3_5_moe_text"),
        *("qwen4_exp", "smolvlm", "stablelm", "step3_vl", "umt5", "vipllava", "voxtral"),
        *("voxtral_realtime", "xlm-roberta-xl"),
    )
)
"""The models for which transformers takes another class than the one that is named."""


def taken(config: Mapping[str, Any], model: Mapping[str, Any], *, of_bytes: bool) -> str:
    """The class that `AutoTokenizer` of transformers 5 takes for a folder, without "Fast".

    `config` is the content of tokenizer_config.json, `model` that of config.json, `of_bytes`
    whether the tokens of the folder are bytes. If none is named, it is one with the same inputs;
    empty for the class without rules of its own.

    >>> taken({"tokenizer_class": "BertTokenizerFast"}, {}, of_bytes=False)
    'BertTokenizer'
    >>> taken({"tokenizer_class": "Qwen2Tokenizer"}, {"model_type": "qwen2"}, of_bytes=True)
    ''
    """
    named = config.get("tokenizer_class") or model.get("tokenizer_class")
    kind = model.get("model_type")
    named = named.removesuffix(_FAST) if isinstance(named, str) else None
    if not isinstance(kind, str):
        kind = ""
    if kind == "siglip2":  # whatever class is named
        named = None
    if kind in _NOT_AS_NAMED or (named == "LlamaTokenizer" and of_bytes):
        return ""
    return named or _OF_MODELS.get(kind, "")


def usual(config: Mapping[str, Any], model: Mapping[str, Any], *, of_bytes: bool) -> Usual:
    """What the class has that is taken for a folder; see `taken`.

    >>> usual({"tokenizer_class": "BertTokenizerFast"}, {}, of_bytes=False).inputs
    ('input_ids', 'token_type_ids', 'attention_mask')
    """
    return _CLASSES.get(taken(config, model, of_bytes=of_bytes), Usual())
