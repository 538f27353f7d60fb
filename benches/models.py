"""What files of tokenizers have beside byte-level BPE and one pattern, and what it costs.

Other models and pretokenizers of several stages, with ids alone and with offsets, beside the
programs that read the same files; and NFC.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benches.data import MB, documents, folder, vocabulary
from benches.model_files import model_file
from benches.peers import Arrays, Program, Texts, awkward_arrays, flat_lists
from benches.run import Options, Results, Task, disagreements, take_turns
from benches.tables import markdown, number, times

MEGABYTES = 6.0
PASSES = 4
NFC = "NFC"

LANGUAGES = (
    *(
        "eng_Latn",
        "fra_Latn",
        "vie_Latn",
        "yor_Latn",
        "rus_Cyrl",
        "ell_Grek",
        "arb_Arab",
        "heb_Hebr",
    ),
    *("hin_Deva", "ben_Beng", "tha_Thai", "khm_Khmr", "kor_Hang", "jpn_Jpan", "zho_Hans"),
)
"""Those of FLORES-200 in which NFC is measured."""


@dataclass(frozen=True)
class Reader(Program):
    """A program that reads such models: what encodes a batch, and what flattens the result."""

    load: Callable[[str], tuple[Callable[[Texts], Any], Callable[[Any], Arrays]]]
    slow: bool = False


def _digram(name: str, *, out: str) -> tuple[Callable[[Texts], Any], Callable[[Any], Arrays]]:
    import digram

    tok = digram.load(model_file(name))
    if out == "lists":
        return lambda texts: tok.encode_batch(texts, threads=1), flat_lists
    return (
        lambda texts: tok.encode_batch(texts, threads=1, out="numpy"),
        lambda found: (found.ids, np.diff(found.offsets.astype(np.int64))),
    )


def _tokenizers(name: str) -> tuple[Callable[[Texts], Any], Callable[[Any], Arrays]]:
    import tokenizers

    tok = tokenizers.Tokenizer.from_file(str(model_file(name)))

    def batch(texts: Texts) -> list[list[int]]:
        return [one.ids for one in tok.encode_batch_fast(texts, add_special_tokens=False)]

    return batch, flat_lists


def _digram_offsets(name: str) -> tuple[Callable[[Texts], Any], Callable[[Any], Arrays]]:
    import digram

    tok = digram.load(model_file(name))

    def batch(texts: Texts) -> list[list[tuple[int, int]]]:
        found = tok(list(texts), add_special_tokens=False, threads=1)
        return [one.offsets for one in found.encodings]

    return batch, _flat_offsets


def _tokenizers_offsets(name: str) -> tuple[Callable[[Texts], Any], Callable[[Any], Arrays]]:
    import tokenizers

    tok = tokenizers.Tokenizer.from_file(str(model_file(name)))

    def batch(texts: Texts) -> list[list[tuple[int, int]]]:
        return [one.offsets for one in tok.encode_batch(texts, add_special_tokens=False)]

    return batch, _flat_offsets


def _flat_offsets(found: list[list[tuple[int, int]]]) -> Arrays:
    return flat_lists([[place for span in one for place in span] for one in found])


def _sentencepiece(name: str) -> tuple[Callable[[Texts], Any], Callable[[Any], Arrays]]:
    import sentencepiece

    tok = sentencepiece.SentencePieceProcessor(model_file=str(model_file(name)))
    return lambda texts: tok.encode(list(texts), num_threads=1), flat_lists


def _gigatoken(name: str) -> tuple[Callable[[Texts], Any], Callable[[Any], Arrays]]:
    import gigatoken

    path = str(model_file(name))
    is_model = name.endswith(".model")
    tok: Any = (gigatoken.Tokenizer.from_sentencepiece if is_model else gigatoken.Tokenizer)(path)
    return lambda texts: tok.encode_batch(texts, parallel=False), awkward_arrays


ARRAYS, LISTS = "digram, arrays", "digram, lists"
READERS = {
    reader.name: reader
    for reader in (
        Reader(ARRAYS, "digram", lambda name: _digram(name, out="arrays")),
        Reader(LISTS, "digram", lambda name: _digram(name, out="lists")),
        Reader("gigatoken", "gigatoken", _gigatoken),
        Reader("sentencepiece", "sentencepiece", _sentencepiece),
        Reader("tokenizers", "tokenizers", _tokenizers, slow=True),
    )
}
OFFSET_READERS = {
    reader.name: reader
    for reader in (
        Reader("digram, offsets", "digram", _digram_offsets),
        Reader("tokenizers, offsets", "tokenizers", _tokenizers_offsets, slow=True),
    )
}
GIVES_ARRAYS = (ARRAYS, "gigatoken")


@dataclass(frozen=True)
class Row:
    """A model, a text, and who is measured beside digram."""

    title: str
    file: str
    corpus: str
    others: tuple[str, ...]
    lower: bool = False  # whether the text is in lower case


ROWS = (
    Row("BERT", "bert.json", "en", ("tokenizers",)),
    Row("BERT", "bert.json", "multi", ("tokenizers",)),
    Row("WordPiece alone", "wordpiece.json", "en", ("tokenizers",), lower=True),
    Row("Unigram as T5", "unigram-en.json", "en", ("tokenizers",)),
    Row("Unigram as XLM-R", "unigram-multi.json", "multi", ("tokenizers",)),
    Row("Unigram .model", "unigram-en.model", "en", ("sentencepiece",)),
    Row("Unigram .model", "unigram-multi.model", "multi", ("sentencepiece",)),
    Row("BPE .model", "bpe-en.model", "en", ("sentencepiece", "gigatoken")),
    Row("BPE .model", "bpe-multi.model", "multi", ("sentencepiece", "gigatoken")),
    Row("Llama 2", "llama.json", "en", ("tokenizers", "gigatoken")),
    Row("Llama 2", "llama.json", "code", ("tokenizers", "gigatoken")),
    Row("Llama 2", "llama.json", "multi", ("tokenizers", "gigatoken")),
    Row("GPT-2's tokens, split as DeepSeek V3", "deepseek-v3.json", "en", ("tokenizers",)),
    Row("GPT-2's tokens, split as DeepSeek-Coder", "deepseek-coder.json", "code", ("tokenizers",)),
    Row("GPT-2's tokens, split as StarCoder", "starcoder.json", "code", ("tokenizers",)),
)
OFFSET_ROWS = (
    ("BERT", "bert.json", "en"),
    ("Unigram as T5", "unigram-en.json", "en"),
    ("Unigram as XLM-R", "unigram-multi.json", "multi"),
    ("Llama 2", "llama.json", "en"),
    ("GPT-2's tokens, split as DeepSeek V3", "deepseek-v3.json", "en"),
)
"""The rows with offsets: a title, a file and a corpus."""


def measure(
    who: str, file: str = "", corpus: str = "", megabytes: float = 0.0, lower: bool = False
) -> dict[str, Any]:
    """Seconds of each pass over a corpus, or with NFC and without it; in a process of its own."""
    if who == NFC:
        return _measure_nfc(corpus)
    texts = documents(corpus, megabytes)
    if lower:
        texts = [text.lower() for text in texts]
    reader = (READERS | OFFSET_READERS)[who]
    batch, flat = reader.load(file)
    batch(("hello world, 123", "a b"))
    passes = []
    for _ in range(2 if reader.slow else PASSES):
        started = perf_counter()
        out = batch(texts)
        passes.append(perf_counter() - started)
    ids, lengths = flat(out)
    return {
        "bytes": sum(len(text.encode()) for text in texts),
        "first": passes[0],
        "last": min(passes[1:]),
        "digest": _digest(ids, lengths),
    }


def _measure_nfc(language: str) -> dict[str, Any]:
    """Seconds of cl100k over text that is in normal form, alone and with NFC, in turns."""
    import unicodedata

    import digram
    from digram.pretokenizers import NFC as NormalForm  # noqa: N811 - a class
    from digram.pretokenizers import Pretokenizer

    path = folder() / "flores-dev" / f"{language}.txt"
    text = unicodedata.normalize("NFC", path.read_text(encoding="utf-8"))
    texts = text.splitlines()
    alone = digram.load(vocabulary("cl100k_base"), encoding="cl100k_base")
    with_nfc = digram.load(
        vocabulary("cl100k_base"), pretokenizer=Pretokenizer("cl100k", normalizer=NormalForm())
    )
    taken: dict[str, list[float]] = {"alone": [], "nfc": []}
    for _ in range(40):
        for name, tok in (("alone", alone), ("nfc", with_nfc)):
            started = perf_counter()
            out = tok.encode_batch(texts, threads=1, out="numpy")
            taken[name].append(perf_counter() - started)
            if name == "alone":
                expected = out
    if not np.array_equal(out.ids, expected.ids):
        raise SystemExit(f"NFC changed the ids of {language}")
    return {
        "bytes": len(text.encode()),
        **{name: min(passes[1:]) for name, passes in taken.items()},
        "digest": _digest(out.ids, out.offsets),
    }


def _digest(ids: Any, lengths: Any) -> str:
    return hashlib.sha256(ids.astype("<u4").tobytes() + lengths.astype("<i8").tobytes()).hexdigest()


def run(options: Options) -> tuple[str, list[Task]]:
    """Both tables, and the measurements whose ids differ from digram's."""
    megabytes = options.megabytes or (1.0 if options.quick else MEGABYTES)
    rows = ROWS[:1] if options.quick else ROWS
    groups = {row: _tasks(row, megabytes, options) for row in rows}
    for row in rows:
        model_file(row.file)  # made before anything is timed
    results = take_turns(groups.values(), options)
    wrong = [task for group in groups.values() for task in disagreements(results, group)]
    with_offsets = _offset_tasks(megabytes, options)
    results |= take_turns(with_offsets.values(), options)
    wrong += [task for group in with_offsets.values() for task in disagreements(results, group)]
    languages = LANGUAGES[:1] if options.quick else LANGUAGES
    nfc = [Task.of("models", NFC, corpus=language) for language in languages]
    results |= take_turns([[task] for task in nfc], options)
    wrong += [task for task in nfc if len(results[task].digests) > 1]
    lines = [_line(row, group, results, wrong) for row, group in groups.items()]
    head = ["MB/s, first pass / last", *READERS, "÷ sentencepiece", "÷ gigatoken", "÷ tokenizers"]
    offsets = [
        _offset_line(f"{title}, {corpus}", group, results, wrong)
        for (title, _, corpus), group in with_offsets.items()
    ]
    costs = [
        [
            language,
            number(found["bytes"] / MB / found["alone"]),
            times(found["nfc"] / found["alone"]),
        ]
        for language, task in zip(languages, nfc, strict=True)
        if (found := results[task])
    ]
    what = (
        f"Whole documents of a corpus, up to {megabytes:g} MB, one thread. What gives lists is "
        "compared with digram's lists, gigatoken with its arrays."
    )
    parts = [
        "## Other models",
        what,
        markdown(head, lines),
        "### Offsets",
        "The start and end of each token of each text, as lists of tuples, encoding included.",
        markdown(["MB/s, first pass / last", *OFFSET_READERS, "÷ tokenizers"], offsets),
        "### NFC on normal text",
        "Lines of FLORES-200 with `cl100k`, all of them known to the caches.",
        markdown(["", "MB/s without NFC", "time with NFC ÷ without"], costs),
    ]
    return "\n\n".join(parts), wrong


def _tasks(row: Row, megabytes: float, options: Options) -> list[Task]:
    names = (ARRAYS, LISTS, *row.others)
    chosen = [READERS[name] for name in names]
    return [
        Task.of(
            "models",
            reader.name,
            slow=reader.slow,
            file=row.file,
            corpus=row.corpus,
            megabytes=megabytes,
            lower=row.lower,
        )
        for reader in chosen
        if reader.installed and options.wants(reader.package)
    ]


def _offset_tasks(megabytes: float, options: Options) -> dict[tuple[str, str, str], list[Task]]:
    """The measurements of each row with offsets."""
    readers = [
        reader
        for reader in OFFSET_READERS.values()
        if reader.installed and options.wants(reader.package)
    ]
    groups = {}
    for row in OFFSET_ROWS[:1] if options.quick else OFFSET_ROWS:
        _, file, corpus = row
        model_file(file)  # made before anything is timed
        groups[row] = [
            Task.of(
                "models",
                reader.name,
                slow=reader.slow,
                file=file,
                corpus=corpus,
                megabytes=megabytes,
            )
            for reader in readers
        ]
    return groups


def _offset_line(title: str, group: list[Task], results: Results, wrong: list[Task]) -> list[str]:
    """The speeds with offsets, and how many times as fast digram is."""
    measured = [(task, found) for task in group if (found := results.get(task))]
    speeds = [
        [found["bytes"] / MB / found[one] for one in ("first", "last")] for _, found in measured
    ]
    cells = dict.fromkeys(OFFSET_READERS, "–")
    for (task, _), speed in zip(measured, speeds, strict=True):
        cells[task.who] = " / ".join(map(number, speed)) + " ≠" * (task in wrong)
    both = len(speeds) == len(OFFSET_READERS)
    ratio = " / ".join(times(a / b) for a, b in zip(*speeds, strict=True)) if both else "–"
    return [title, *cells.values(), ratio]


def _line(row: Row, group: list[Task], results: Results, wrong: list[Task]) -> list[str]:
    """The speeds of a row, and how many times as fast digram is."""
    speed: dict[str, tuple[float, float]] = {}
    cells = dict.fromkeys(READERS, "–")
    for task in group:
        name, found = task.who, results.get(task)
        if found:
            first, last = (found["bytes"] / MB / found[one] for one in ("first", "last"))
            speed[name] = (first, last)
            cells[name] = f"{number(first)} / {number(last)}" + " ≠" * (task in wrong)
    ratios = []
    for name in ("sentencepiece", "gigatoken", "tokenizers"):
        ours = speed.get(ARRAYS if name in GIVES_ARRAYS else LISTS)
        theirs = speed.get(name)
        if ours and theirs:
            ratios.append(" / ".join(times(a / b) for a, b in zip(ours, theirs, strict=True)))
        else:
            ratios.append("–")
    return [f"{row.title}, {row.corpus}", *cells.values(), *ratios]
