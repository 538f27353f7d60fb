"""Fair vocabularies: what languages pay under plain and under fair training, and what it costs."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benches.data import CORPORA, MB, documents, folder
from benches.run import Options, Task, disagreements, take_turns
from benches.tables import markdown, number

if TYPE_CHECKING:
    import digram

Texts = dict[str, list[str]]

LANGUAGES = (
    "eng_Latn",
    "fra_Latn",
    "rus_Cyrl",
    "tur_Latn",
    "swh_Latn",
    "arb_Arab",
    "hin_Deva",
    "tam_Taml",
    "amh_Ethi",
    "zho_Hans",
)
PRETOKENIZER = "o200k"
MERGES = {"flores": 8_000, "corpora": 32_000}
GLOBAL = 2_000
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "fair": {},
    "hybrid": {"global_merges": GLOBAL},
    "window": {"window": 100},
    "tokenizers": {},
    "tokenizers, hybrid": {"global_merges": GLOBAL},
    "tokenizers, window": {"window": 100},
}
OURS = ("plain", "fair", "hybrid", "window")


def flores() -> tuple[Texts, Texts, Texts]:
    """Lines to learn from, many of two languages and few of the others; to steer; to measure."""
    lines = {
        name: (folder() / "flores-dev" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        for name in LANGUAGES
    }
    learn = {name: lines[name][: 500 if n < 2 else 100] for n, name in enumerate(LANGUAGES)}
    return (
        learn,
        {name: of[500:700] for name, of in lines.items()},
        {name: of[700:] for name, of in lines.items()},
    )


def corpora(megabytes: float) -> tuple[Texts, Texts]:
    """Each corpus as a language: nine tenths of its documents to learn from, the rest to steer."""
    texts = {name: documents(name, megabytes) for name in CORPORA}
    cuts = {name: len(of) * 9 // 10 for name, of in texts.items()}
    return (
        {name: of[: cuts[name]] for name, of in texts.items()},
        {name: of[cuts[name] :] for name, of in texts.items()},
    )


def trained(who: str, learn: Texts, dev: Texts, merges: int) -> digram.Tokenizer:
    """A tokenizer of ours."""
    import digram

    options: dict[str, Any] = {
        "max_merges": merges,
        "pretokenizer": PRETOKENIZER,
        "ties": "printable",
        "byte_order": "gpt2",
    }
    if who == "plain":
        return digram.train(learn, **options)
    return digram.train_fair(learn, dev=dev, **VARIANTS[who], **options)


def theirs(who: str, learn: Texts, dev: Texts, merges: int) -> Any:
    """A tokenizer of Hugging Face's trainer."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    from digram.pretokenizers.pretokenizer import NAMED

    options = dict(VARIANTS[who])
    window = options.pop("window", None)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *(
                pre_tokenizers.Split(Regex(pattern), "isolated")
                for pattern in NAMED[PRETOKENIZER].patterns
            ),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.ParityBpeTrainer(
        num_merges=merges,
        variant="base" if window is None else "window",
        window_size=window or 100,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        **options,
    )
    trainer.train_from_iterator(
        tokenizer,
        train_iterators=[iter(one) for one in learn.values()],
        dev_iterators=[iter(dev[name]) for name in learn],
    )
    return tokenizer


def measure(who: str, texts: str, megabytes: float) -> dict[str, Any]:
    """Seconds, a digest of the merges, and on FLORES what each language pays.

    The pretokenizer is made before. What takes a moment is done five times; the shortest counts.
    """
    from digram.formats import huggingface

    learn, dev = flores()[:2] if texts == "flores" else corpora(megabytes)
    ours, merges = who in OURS, MERGES[texts]
    train: Callable[[str, Texts, Texts, int], Any] = trained if ours else theirs
    few = {name: of[:2] for name, of in learn.items()}
    train(who, few, few, 5)
    seconds = []
    for _ in range(5 if ours and texts == "flores" else 1):
        started = time.perf_counter()
        found = train(who, learn, dev, merges)
        seconds.append(time.perf_counter() - started)
    file = huggingface.dumps(found.definition) if ours else found.to_str()
    learned = json.dumps(json.loads(file)["model"]["merges"])
    result = {"seconds": min(seconds), "digest": hashlib.sha256(learned.encode()).hexdigest()}
    if ours and texts == "flores":
        parallel = found.evaluate(flores()[2], reference=LANGUAGES[0]).parallel
        assert parallel is not None
        result |= {"gini": parallel.gini, "tokens": sum(parallel.tokens_per_line.values())}
        result |= parallel.premium
    return result


def run(options: Options) -> tuple[str, list[Task]]:
    """What languages pay, and what training takes."""
    megabytes = options.megabytes or (2.0 if options.quick else 10.0)
    peers = [who for who in VARIANTS if who in OURS or options.wants("tokenizers")]
    small = {who: Task.of("fair", who, texts="flores", megabytes=0.0) for who in peers}
    large = {
        who: Task.of("fair", who, slow=who not in OURS, texts="corpora", megabytes=megabytes)
        for who in peers
        if who in OURS or who == "tokenizers"
    }
    results = take_turns([[*small.values()], [*large.values()]], options)
    wrong: list[Task] = []
    for tasks in (small, large):
        for mine, other in zip(("fair", "hybrid", "window"), [*VARIANTS][len(OURS) :], strict=True):
            wrong += disagreements(results, [tasks[one] for one in (mine, other) if one in tasks])

    found = {who: results[small[who]] for who in OURS}
    if not all(found.values()):
        return "## Fair vocabularies\n\nNothing was measured.", wrong
    rows = [[name, *(f"{one[name]:.2f}" for one in found.values())] for name in LANGUAGES]
    rows.append(["Gini", *(f"{one['gini']:.3f}" for one in found.values())])
    rows.append(["tokens per line, all", *(number(one["tokens"]) for one in found.values())])
    head = (
        f"## Fair vocabularies\n\nTen languages of FLORES-200, {MERGES['flores']:,} merges, "
        f"`{PRETOKENIZER}`: 500 lines of the first two to learn from, 100 of the others; 200 to "
        "steer; premium over English on the rest."
    )
    costs = []
    for who in VARIANTS:
        cells = []
        for tasks in (small, large):
            one = results.get(tasks[who]) if who in tasks else None
            plain = results[tasks["plain"]]
            cells += ["–"] * 3 if not one else [
                number(one["seconds"]),
                f"{one['seconds'] / plain['seconds']:.1f}×",
                number(one["peak"] / MB),
            ]  # fmt: skip
        costs.append([who, *cells])
    header = ["", "s", "÷ plain", "MB of memory", "s", "÷ plain", "MB of memory"]
    text = (
        f"What it takes: there, and for {MERGES['corpora']:,} merges on {megabytes:g} MB of each "
        "of four corpora as languages, a tenth of it to steer."
    )
    return f"{head}\n\n{markdown(['', *OURS], rows)}\n\n{text}\n\n{markdown(header, costs)}", wrong
