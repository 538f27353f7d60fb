"""Read saved tokenizers with the program that they were saved for, and compare the ids.

    python reading.py PROGRAM FOLDER

This runs where digram is not installed, so it imports nothing but the program. FOLDER is what
`writing.py` wrote. Prints a line for each file, and exits with 1 if an id differs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

EncodeAll = Callable[[list[str]], Any]
Export = dict[str, Any]


def by_tokenizers(export: Export, path: Path) -> EncodeAll:
    import tokenizers

    if export["format"] == "vocab_merges":
        made: Any = tokenizers.ByteLevelBPETokenizer(
            str(path / "vocab.json"), str(path / "merges.txt")
        )
    elif export["format"] == "vocab_txt":
        made = tokenizers.BertWordPieceTokenizer(str(path), lowercase=False, strip_accents=False)
    else:
        made = tokenizers.Tokenizer.from_file(str(path))
    return lambda texts: [made.encode(text, add_special_tokens=False).ids for text in texts]


def by_tiktoken(export: Export, path: Path) -> EncodeAll:
    import tiktoken
    import tiktoken.load

    if export["format"] == "plugin":
        return _of_plugin(export["encoding"], path)
    made = tiktoken.Encoding(
        "saved",
        pat_str=export["pattern"],
        mergeable_ranks=tiktoken.load.load_tiktoken_bpe(str(path)),
        special_tokens=export["special_tokens"],
    )
    return lambda texts: [made.encode(text, allowed_special="all") for text in texts]


_ASK = """
import json, sys, tiktoken
made = tiktoken.get_encoding(sys.argv[1])
print(json.dumps([made.encode(text, allowed_special="all") for text in json.load(sys.stdin)]))
"""


def _of_plugin(encoding: str, path: Path) -> EncodeAll:
    """Install the package into a folder of its own, and ask a new process, which finds it there."""
    target = path.parent / "installed"
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target"]
    install = [sys.executable, "-m", "pip", "install", *options, str(target), str(path)]
    subprocess.run(install, check=True, capture_output=True)

    def encode(texts: list[str]) -> Any:
        run = subprocess.run(
            [sys.executable, "-c", _ASK, encoding],
            input=json.dumps(texts),
            env={**os.environ, "PYTHONPATH": str(target)},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(run.stdout)

    return encode


def by_sentencepiece(export: Export, path: Path) -> EncodeAll:
    import sentencepiece

    encode: EncodeAll = sentencepiece.SentencePieceProcessor(model_file=str(path)).encode
    return encode


def by_gguf(export: Export, path: Path) -> EncodeAll:
    """The package does not encode: the texts are those of tokens, and the ids those it reads."""
    import gguf

    field = gguf.GGUFReader(str(path)).get_field("tokenizer.ggml.tokens")
    assert field is not None
    ids = {token: id for id, token in enumerate(field.contents())}
    return lambda texts: [[ids[text]] for text in texts]


def by_gigatoken(export: Export, path: Path) -> EncodeAll:
    import gigatoken

    encode = gigatoken.Tokenizer(str(path)).encode
    return lambda texts: [list(encode(text)) for text in texts]


def by_fastokens(export: Export, path: Path) -> EncodeAll:
    made = import_module("fastokens").Tokenizer.from_file(str(path))
    return lambda texts: [list(made.encode_ordinary(text).ids) for text in texts]


def by_mistral_common(export: Export, path: Path) -> EncodeAll:
    made = import_module("mistral_common.tokens.tokenizers.tekken").Tekkenizer.from_file(path)
    return lambda texts: [made.encode(text, bos=False, eos=False) for text in texts]


def by_transformers(export: Export, path: Path) -> EncodeAll:
    import transformers

    transformers.logging.set_verbosity_error()
    made = transformers.AutoTokenizer.from_pretrained(str(path))
    return lambda texts: [made.encode(text, add_special_tokens=False) for text in texts]


PROGRAMS = {
    name.removeprefix("by_").replace("_", "-"): function
    for name, function in list(globals().items())
    if name.startswith("by_")
}


def compared(program: str, folder: Path) -> Iterator[tuple[str, int, int]]:
    """The name of each file for a program, the number of texts, and of those that differ."""
    exports = json.loads((folder / "exports.json").read_text(encoding="utf-8"))
    for export in exports:
        if program in export["programs"]:
            encode = PROGRAMS[program](export, folder / export["path"])
            pairs = zip(encode(export["texts"]), export["ids"], strict=True)
            different = sum(theirs != ours for theirs, ours in pairs)
            yield export["path"], len(export["texts"]), different


def main(program: str, folder: Path) -> int:
    from importlib.metadata import version

    found = list(compared(program, folder))
    if not found:
        print(f"{program}: there is no file for it")
        return 1
    for path, texts, different in found:
        print(f"{program} {version(program)}: {path}: {texts} texts, {different} differ")
    return int(any(different for _, _, different in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
