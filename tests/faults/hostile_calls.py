"""Calls the whole public surface with hostile values, each call in a process of its own.

`python tests/faults/hostile_calls.py --calls 14000` takes some minutes; the suite takes a share.
What is called is found by looking: every name of `digram.__all__`, every constructor and public
method, and those of all that they return. In a call one argument is hostile and the others are as
they should be. A call may give a result, `DigramError`, `TypeError`, `OSError` or `MemoryError`, or
let through what a foreign object raised; all else is a fault. A call has a name and a
number, and is the same each time: `--name Tokenizer.encode` makes those that have this in their
names, `--value surrogate` those of the values that do, and `--only 17` reports one in full.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import inspect
import io
import itertools
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.hostile_values import VALUES, ForeignError
from forked import Ended, forked

import digram
from digram.vocab.model import require_bpe

ALLOWED: tuple[type[BaseException], ...] = (
    digram.DigramError,
    TypeError,
    OSError,
    MemoryError,
    ForeignError,
)
OPERATORS: dict[str, tuple[type[BaseException], ...]] = {
    # A mapping and a sequence say by these that something is not in them.
    "__getitem__": (KeyError, IndexError),
    "__call__": (),
    "__contains__": (),
    "__eq__": (),
    "__add__": (),
    "__radd__": (),
    "__sub__": (),
    "__mul__": (),
    "__rmul__": (),
}
PATIENCE = 3
_LOOKED_AT = 50  # items of a result that is iterated over

TEXT = "low low lower lowest, slow slower slowest 5 mg"
TEXTS = {"en": TEXT, "de": "nieder niedrig " * 3}


@cache
def tok() -> digram.Tokenizer:
    """The tokenizer that methods are called of."""
    special = ["<s>", "<pad>", "<|endoftext|>"]
    found = digram.train(TEXT, vocab_size=280, special_tokens=special, pretokenizer="gpt2")
    return found.with_pad_token("<pad>").with_context_size(64)


def _small() -> digram.Tokenizer:
    return digram.train(TEXT, vocab_size=262, pretokenizer="gpt2")


def _sequences() -> digram.SequenceTokenizer:
    return digram.train_ids([[1, 2, 3] * 9], vocab_size=8)


def _space() -> digram.IdSpace:
    return digram.IdSpace({"text": tok(), "image": 16})


def _history() -> digram.VocabularyHistory:
    history = (
        digram.VocabularyHistory(pretokenizer="gpt2").add(TEXT, name="text").next(vocab_size=262)
    )
    return history.add(TEXT).next(add=2)


def _saved(value: Any, name: str) -> str:
    value.save(name)
    return name


def _table() -> Any:
    import pyarrow as pa

    return pa.table({"text": ["low", "lower"]})


def _file() -> str:
    Path("low.txt").write_text(TEXT, encoding="utf-8")
    return "low.txt"


def _counts() -> digram.Counts:
    return digram.count_pretokens(TEXT, pretokenizer="gpt2")


_NUMBERS = itertools.count()


def _folder() -> str:
    """The name of a folder that there is not."""
    return f"folder{next(_NUMBERS)}"


def _tokens() -> str:
    folder = _folder()
    digram.encode_files(tok(), ["low", "lower"], folder, format="megatron")
    return folder


def _curve() -> Any:
    return digram.curve(tok(), TEXT)


VALID: dict[str, Callable[[], Any]] = {
    # What a parameter takes that has to be given: by its name, or by that of the call too.
    "add": lambda: 2,
    "batch": lambda: [[97], [98, 99]],
    "before": _small,
    "after": _small,
    "chunks": lambda: ["low ", "lower"],
    "column": lambda: "text",
    "context_size": lambda: 16,
    "corpus_size": lambda: "1 GB",
    "curve": _curve,
    "data": _table,
    "definition": lambda: tok().definition,
    "encoding": lambda: "cl100k_base",
    "factor": lambda: 0.5,
    "folder": _folder,
    "format": lambda: "npy",
    "id": lambda: 97,
    "ids": lambda: [97, 98],
    "languages": lambda: TEXTS,
    "message": lambda: "a message",
    "max_length": lambda: 3,
    "n": lambda: 3,
    "name": lambda: "text",
    "number": lambda: 1,
    "other": _small,
    "pad_token": lambda: "<pad>",
    "parts": lambda: [("text", "low"), ("image", [1, 2])],
    "path": lambda: "out.json",
    "pattern": lambda: r"\w+|\s+",
    "position": lambda: 1,
    "pretokenizer": lambda: "gpt2",
    "ranges": lambda: {"image": 16},
    "rules": lambda: digram.Rules(["iron"]),
    "sequence": lambda: [1, 2, 3],
    "sequences": lambda: [[1, 2, 3] * 9],
    "single": lambda: "<s> $A",
    "corpus": lambda: [TEXT, "low lower"],
    "start": lambda: 0,
    "template": lambda: digram.Template("<s> $A"),
    "text": lambda: TEXT,
    "texts": lambda: [TEXT, "low"],
    "this": tok,
    "tok": tok,
    "token": lambda: "low",
    "tokenizer": tok,
    "tokens": lambda: ["<a>", "<b>"],
    "vocab_size": lambda: 270,
    "weight": lambda: 2,
    "Advice.__getitem__(model)": lambda: next(
        iter(digram.advise(_curve(), parameters="7B").recommendations)
    ),
    "Change.then(next)": lambda: digram.Change.of(tok(), tok()),
    "Counts.__contains__(piece)": lambda: "low",
    "Counts.__getitem__(piece)": lambda: "low",
    "Counts.filter(min_count)": lambda: 2,
    "Curve.__getitem__(vocab_size)": lambda: 275,
    "Curve.best_size(parameters)": lambda: 1000,
    "Curve.best_size(width)": lambda: 64,
    "Curve.tokens_at(vocab_size)": lambda: 275,
    "Counts(pieces)": lambda: {"low": 2},
    "Counts.from_arrow(table)": lambda: _counts().to_arrow(),
    "Counts.load(path)": lambda: _saved(_counts(), "counts.arrow"),
    "Counts.merge(parts)": lambda: [_counts(), _counts()],
    "EmbeddingPlan.apply(embeddings)": lambda: __import__("numpy").zeros((283, 2)),
    "Encoding.token_to_chars(token)": lambda: 0,
    "Encoding.word_to_tokens(word)": lambda: 0,
    "Encodings.__getitem__(index)": lambda: 0,
    "Files(paths)": lambda: (Path(_file()),),
    "IdSpace(ranges)": lambda: {"text": tok(), "image": 16},
    "IdSpace.grow(name)": lambda: "image",
    "IdSpace.grow(holding)": lambda: 20,
    "IdSpace.load(path)": lambda: _saved(_space(), "space.json"),
    "IdSpace.to_global(range)": lambda: "image",
    "IdSpace.to_global(local)": lambda: [1, 2],
    "IdSpace.with_ranges(ranges)": lambda: {"more": 8},
    "Rules.from_dict(data)": lambda: {"protect": ["iron"]},
    "Rules.load(path)": lambda: _saved(digram.Rules(["iron"]), "rules.json"),
    "SequenceTokenizer.decode_ids(ids)": lambda: [0, 1],
    "SequenceTokenizer.load(path)": lambda: _saved(_sequences(), "sequences.json"),
    "SequenceTokenizer.shrink(vocab_size)": lambda: 5,
    "SequenceTokenizer.symbols(ids)": lambda: [0, 1],
    "SequenceTokenizer(tokenizer)": lambda: _sequences().tokenizer,
    "SequenceTokenizer(alphabet)": lambda: _sequences().alphabet,
    "TokenFiles.__getitem__(index)": lambda: 0,
    "TokenFiles.shard(number)": lambda: 0,
    "VocabularyHistory.load(folder)": lambda: _saved(_history(), "history"),
    "VocabularyHistory.map(first)": lambda: 1,
    "VocabularyHistory.map(second)": lambda: 2,
    "files(pattern)": _file,
    "Pretokenizer(pattern)": lambda: "gpt2",
    "load(path)": lambda: _saved(tok(), "load.json"),
    "pretokenize(pretokenizer)": lambda: "gpt2",
    "read_tokens(path)": _tokens,
}

BESIDE: dict[str, dict[str, Callable[[], Any]]] = {
    # What a call needs beside its required arguments, and what stands behind its `**options`.
    "advise": {"parameters": lambda: "7B"},
    "train": {"vocab_size": lambda: 262},
    "train_fair": {"vocab_size": lambda: 262},
    "train_ids": {"vocab_size": lambda: 6},
    "check_rules": {"rules": lambda: digram.Rules(["iron"])},
    "prune": {"remove": lambda: 2},
    "VocabularyHistory.next": {"add": lambda: 2, "min_frequency": lambda: 1, "threads": lambda: 1},
    "VocabularyHistory.forget": {"corpus": lambda: TEXT},
    "Change.compare": {"top": lambda: 3, "threads": lambda: 1},
    "VocabularyHistory.drift": {"recent": lambda: TEXT},
    "read_tokens": {"format": lambda: "megatron"},
}

RETURNED = {"ArrowIds", "Decoder", "Encoding", "Encodings", "Intervals", "Reading", "RunningCount"}
RETURNED |= {"TokenFiles"}
"""Classes that nobody makes objects of but the calls that return them."""

INNER = {"Alphabet", "IdRange"}
"""Classes of the inner rooms whose objects are held by those of the surface."""
UNCALLED = {"Chart.save", "Chart.svg", "Report.html", "Report.save", "Report.save_figures"}
"""What starts threads of other libraries, which a fork would not have: not called to look."""
INNER_METHODS = {"kind", "merges_of_words", "said", "splitter", "start_of", "texts", "texts_of"}
INNER_METHODS |= {"fault", "kernel", "made", "rows", "tables", "unreached"}
"""Methods of values by which the inner rooms ask what they hold."""

OBJECTS: dict[str, Callable[[], Any]] = {
    # Objects of classes that no call with such arguments gives.
    "ArrowIds": lambda: tok().encode_batch(["low"], out="arrow"),
    "FlatIds": lambda: tok().encode_batch(["low"], out="numpy"),
    "IdSpace": _space,
    "SequenceTokenizer": _sequences,
    "Tokenizer": tok,
    "TokenFiles": lambda: digram.read_tokens(_tokens()),
    "VocabularyHistory": _history,
    "Encodings": lambda: tok()(["low", "low"]),
    "Template": lambda: digram.Template("<s> $A"),
}


def _composed() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Values that hold whatever they are given, given on to a call that uses them."""
    for one in dataclasses.fields(digram.Definition):

        def made(value: Any, name: str = one.name) -> Any:
            found = digram.Tokenizer(dataclasses.replace(tok().definition, **{name: value}))
            return found.merge_log, found

        yield f"Definition.{one.name}", made, {"value": partial(_part, _plain, one.name)}
    for one in dataclasses.fields(digram.BpeModel):

        def applied(value: Any, name: str = one.name) -> Any:
            model = dataclasses.replace(require_bpe(_plain().model, "a test"), **{name: value})
            found = digram.Tokenizer(dataclasses.replace(_plain(), model=model))
            return found.merge_log, found

        known = {"value": partial(getattr, _plain().model, one.name)}
        yield f"BpeModel.{one.name}", applied, known
    for one in dataclasses.fields(digram.TrainingRecord):

        def trained(value: Any, name: str = one.name) -> Any:
            record = dataclasses.replace(tok().training, **{name: value})  # type: ignore[type-var]
            found = digram.Tokenizer(dataclasses.replace(tok().definition, training=record))
            return found.merge_log, found

        known = {"value": partial(getattr, tok().training, one.name)}
        yield f"TrainingRecord.{one.name}", trained, known
    uses: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
        "SpecialToken in encode": (
            lambda value: tok().encode([digram.SpecialToken(value)]),
            lambda: "<s>",
        ),
        "SpecialToken in on_unknown": (
            lambda value: digram.train(
                TEXT, max_merges=1, unit="char", on_unknown=digram.SpecialToken(value)
            ),
            lambda: "<unk>",
        ),
        "Regex in pretokenize": (
            lambda value: digram.pretokenize(TEXT, digram.Regex(value)),
            lambda: r"\w+|\s+",
        ),
        "Regex in train": (
            lambda value: digram.train(TEXT, max_merges=1, pretokenizer=[digram.Regex(value)]),
            lambda: r"\w+|\s+",
        ),
        "Regex in Rules": (
            lambda value: digram.Rules(forbid=[digram.Regex(value)]),
            lambda: r"\w+",
        ),
        "FlatIds.ids": (
            lambda value: tok().decode_batch(digram.FlatIds(value, [0, 2])),  # type: ignore[arg-type]
            lambda: [97, 98],
        ),
        "FlatIds.offsets": (
            lambda value: tok().decode_batch(digram.FlatIds([97, 98], value)),  # type: ignore[arg-type]
            lambda: [0, 2],
        ),
        "Files.paths": (
            lambda value: list(digram.Files(value)),
            lambda: (Path(_file()),),
        ),
        "Table.data": (lambda value: list(digram.Table(value)), _table),
        "Table.column": (lambda value: list(digram.Table(_table(), value)), lambda: ("text",)),
        "Boundless.joins": (
            lambda value: digram.train(TEXT, max_merges=1, superwords=digram.Boundless(value)),
            lambda: "all",
        ),
        "Boundless.pretokenizer": (
            lambda value: digram.train(
                TEXT, max_merges=1, superwords=digram.Boundless(pretokenizer=value)
            ),
            lambda: digram.Regex(r"[^\n]+|\n"),
        ),
        "TwoStage.subwords": (
            lambda value: digram.train(TEXT, max_merges=1, superwords=digram.TwoStage(value)),
            lambda: 0.5,
        ),
        "TwoStage.pretokenizer": (
            lambda value: digram.train(
                TEXT, max_merges=1, superwords=digram.TwoStage(pretokenizer=value)
            ),
            lambda: digram.Regex(r"[^\n]+|\n"),
        ),
    }
    for name, (use, good) in uses.items():
        yield name, use, {"value": good}


def _part(get: Callable[[], Any], name: str) -> Any:
    """An attribute of what is got anew each time."""
    return getattr(get(), name)


def _item(get: Callable[[], Any], place: Any) -> Any:
    return get()[place]


def _itself(value: Any) -> Any:
    return value


def _plain() -> digram.Definition:
    return tok().definition


@dataclass(frozen=True)
class Called:
    """Something that is called: what gives it, the arguments that it has, and those it needs."""

    name: str
    get: Callable[[], Callable[..., Any]]
    arguments: tuple[tuple[str, str], ...]
    """Names of parameters, each with "in place", "by name" or "several"."""
    valid: dict[str, Callable[[], Any]]
    allowed: tuple[type[BaseException], ...] = ()

    def made(self, hostile: str | None = None, value: Any = None) -> Any:
        """Calls it, with a value in the place of one argument."""
        places: list[Any] = []
        names: dict[str, Any] = {}
        for name, kind in self.arguments:
            if name != hostile and name not in self.valid:
                continue
            given = value if name == hostile else self.valid[name]()
            if (
                kind == "in place" and len(places) == self.arguments.index((name, kind))
            ) or kind == "several":
                places.append(given)
            else:
                names[name] = given
        return self.get()(*places, **names)


def called(name: str, get: Callable[[], Callable[..., Any]], call: Any, skip: int) -> Called:
    """What is called, by its signature; `skip` is 1 where that begins with `self`."""
    arguments, valid = [], {}
    beside = BESIDE.get(name, {})
    for one in [*inspect.signature(call).parameters.values()][skip:]:
        if one.kind is one.VAR_KEYWORD:
            arguments += [
                (more, "by name") for more in beside if (more, "by name") not in arguments
            ]
            continue
        kinds: dict[Any, str] = {one.VAR_POSITIONAL: "several", one.KEYWORD_ONLY: "by name"}
        kind = kinds.get(one.kind, "in place")
        arguments.append((one.name, kind))
        needed = one.default is one.empty and one.kind is not one.VAR_POSITIONAL
        if needed or one.name in beside:
            given = beside.get(one.name) or VALID.get(f"{name}({one.name})") or VALID.get(one.name)
            if given is not None:  # else the call says that it is missing
                valid[one.name] = given
    allowed = OPERATORS.get(name.rpartition(".")[2], ())
    return Called(name, get, tuple(dict.fromkeys(arguments)), valid, allowed)


def surface() -> list[Called]:
    """All that there is to call, found by looking and by calling."""
    found: dict[str, Called] = {}
    classes: dict[type, Callable[[], Any]] = {}
    waiting: list[tuple[type, Callable[[], Any]]] = []
    unknown: list[str] = []

    def see(value: Any, get: Callable[[], Any]) -> None:
        """An object that was returned: its class is of the surface, if it is one of digram's."""
        kind = type(value)
        inner = kind.__module__ == "digram._core" and kind.__name__ not in digram.__all__
        if inner or kind.__name__ in INNER:
            return
        if kind.__module__.split(".")[0] == "digram" and kind not in classes:
            classes[kind] = get
            waiting.append((kind, get))
        elif isinstance(value, tuple) and kind is tuple:
            for place, item in enumerate(value):
                see(item, partial(_item, get, place))
        elif isinstance(value, list) and value:
            see(value[0], partial(_item, get, 0))
        elif isinstance(value, dict) and value:
            first = next(iter(value))
            see(value[first], partial(_item, get, first))

    def take(one: Called) -> None:
        found[one.name] = one
        if one.name in UNCALLED:
            return
        try:
            see(one.made(), one.made)
        except Exception as error:
            unknown.append(f"{one.name}: {error!r}")

    for name in digram.__all__:
        value = getattr(digram, name)
        if inspect.isclass(value):
            if name in OBJECTS:
                see(OBJECTS[name](), OBJECTS[name])
            if not _holds(value) and name not in RETURNED:
                take(called(name, partial(_itself, value), value, 0))
        elif callable(value):
            take(called(name, partial(_itself, value), value, 0))
    for name, call, valid in _composed():
        take(Called(name, partial(_itself, call), (("value", "in place"),), valid))
    while waiting:
        kind, get = waiting.pop(0)
        for name in sorted(dir(kind)):
            static = inspect.getattr_static(kind, name)
            hidden = name in INNER_METHODS or (name.startswith("_") and name not in OPERATORS)
            if hidden or not _is_ours(kind, name):
                continue
            full = f"{kind.__name__}.{name}"
            if isinstance(static, property) or inspect.isdatadescriptor(static):
                see(getattr(get(), name), partial(_part, get, name))
            elif isinstance(static, classmethod | staticmethod):
                take(
                    called(
                        full,
                        partial(getattr, kind, name),
                        getattr(kind, name),
                        0,
                    )
                )
            elif callable(static) and full not in found:
                take(called(full, partial(_part, get, name), static, 1))
    assert not unknown, "\n".join(["say in VALID or BESIDE how these are called:", *unknown])
    return [one for one in found.values() if one.arguments]


def _holds(kind: type) -> bool:
    """Whether a class only holds what it is given: then its constructor has nothing to refuse."""
    if issubclass(kind, tuple):
        return True
    made = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.init  # type: ignore[attr-defined]
    return made and not hasattr(kind, "__post_init__")


def _is_ours(kind: type, name: str) -> bool:
    home = next(base for base in kind.__mro__ if name in vars(base))
    return home.__module__.split(".")[0] == "digram"


FORMS: dict[str, Callable[[Any, Any], Any]] = {
    # How a hostile value is given in the place of a valid one.
    "bare": lambda value, _: value,
    "in a list": lambda value, _: [value],
    "in a tuple": lambda value, _: (value,),
    "after others": lambda value, valid: [*_items(valid), value],
    "twice within": lambda value, _: [[value]],
    "as a key": lambda value, valid: {value: _items(valid)[0]},
    "as a value": lambda value, valid: {_items(valid)[0]: value},
    "as a value of text": lambda value, _: {"text": value},
    "from a generator": lambda value, _: (item for item in [value]),
}


def _items(valid: Any) -> list[Any]:
    try:
        return [valid] if isinstance(valid, str | bytes) else [*valid] or ["a"]
    except TypeError:
        return ["a"]


@dataclass(frozen=True)
class Case:
    """A call with one hostile argument."""

    called: Called
    argument: str
    value: str
    form: str

    def __str__(self) -> str:
        return f"{self.called.name}({self.argument}={self.value}, {self.form})"

    def run(self, folder: Path) -> list[str]:
        """What became of it, in a folder of its own: "value", "refused", or "class"."""
        os.chdir(folder)
        warnings.simplefilter("ignore")
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
        devnull = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(devnull, number)
        valid = self.called.valid.get(self.argument, lambda: "a")()
        value = VALUES[self.value]()
        try:
            given = FORMS[self.form](value, valid)
        except Exception:  # what cannot be a key of a dictionary is none
            return ["value", "not made"]
        try:
            _looked_at(self.called.made(self.argument, given))
        except digram.InternalError as error:
            return ["class", _told(error)]
        except ALLOWED + self.called.allowed as error:
            return ["refused", _told(error)]
        except (ValueError, SystemError) as error:
            return ["refused" if self.value in OWN else "class", _told(error)]
        except BaseException as error:
            return ["class", _told(error)]
        return ["value", ""]


def _told(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception as other:
        text = f"no message: {other!r}"
    where = traceback.extract_tb(error.__traceback__)
    ours = [f for f in where if "/digram/" in f.filename or "_core" in f.filename]
    place = f" [{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}]" if ours else ""
    return f"{type(error).__name__}: {text[:300]}{place}"


OWN = {"a negative length", "a released memoryview"}
"""Values of which Python itself says `ValueError` when they are asked."""


def _looked_at(result: Any) -> None:
    """A result is used: what was accepted without a word may fail only then."""
    if isinstance(result, tuple) and type(result) is tuple:
        for item in result:
            _looked_at(item)
    elif isinstance(result, digram.Tokenizer):
        result("low")
        _ = result.digest, result.definition, repr(result)
        result.save("used.json", format="digram")
    elif isinstance(result, Iterator | digram.Files | digram.Table):
        for _ in itertools.islice(result, _LOOKED_AT):
            pass


def cases(calls: list[Called], number: int, seed: int = 0, value: str = "") -> list[Case]:
    """That many cases, shared evenly among all arguments of all calls; values with this name."""
    values = [name for name in VALUES if value in name]
    arguments = [(one, name) for one in calls for name, _ in one.arguments]
    random.Random(seed).shuffle(arguments)
    made: dict[str, Case] = {}
    for place in itertools.count():
        one, name = arguments[place % len(arguments)]
        rng = random.Random(f"{seed} {one.name} {name} {place // len(arguments)}")
        form = "bare" if rng.random() < 0.5 else rng.choice([*FORMS])
        case = Case(one, name, rng.choice(values), form)
        made.setdefault(str(case), case)
        if len(made) >= number or place > 20 * number:
            return [*made.values()]
    raise AssertionError("never ends")


def campaign(chosen: list[Case], lanes: int) -> Iterator[tuple[int, Case, Ended]]:
    """Runs cases in processes; what became of each."""
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=where) as home:
        children = []
        for lane in range(lanes):
            child = os.fork()
            if child:
                children.append(child)
                continue
            status = 1
            try:
                with (Path(home) / f"{lane}.jsonl").open("w", encoding="utf-8") as file:
                    for number in range(lane, len(chosen), lanes):
                        folder = Path(tempfile.mkdtemp(dir=home))
                        run = partial(chosen[number].run, folder)
                        # What draws figures maps far more memory than it uses, and takes its time.
                        draws = chosen[number].called.name.startswith("Report.save")
                        memory, patience = (1 << 40, 9 * PATIENCE) if draws else (1 << 31, PATIENCE)
                        ended = forked(run, memory=memory, patience=patience)
                        shutil.rmtree(folder, ignore_errors=True)
                        file.write(json.dumps([number, ended.how, ended.said]) + "\n")
                        file.flush()
                status = 0
            finally:
                os._exit(status)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * lanes
        for lane in range(lanes):
            for line in (Path(home) / f"{lane}.jsonl").read_text("utf-8").splitlines():
                number, how, said = json.loads(line)
                if how == "value":
                    how, said = said
                yield number, chosen[number], Ended(how, said)


def main() -> int:
    """The command."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--calls", type=int, default=14_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--lanes", type=int, default=os.cpu_count() or 1)
    options.add_argument("--name", action="append", help="only calls whose names hold this")
    options.add_argument("--value", default="", help="only values whose names hold this")
    options.add_argument("--only", type=int, help="only the case of this number, told in full")
    told = options.parse_args()
    warnings.simplefilter("ignore")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        with contextlib.redirect_stdout(io.StringIO()):
            calls = surface()
        os.chdir("/")
    if told.name:
        calls = [one for one in calls if any(part in one.name for part in told.name)]
    chosen = cases(calls, told.calls, told.seed, told.value)
    if told.only is not None:
        chosen = [chosen[told.only]]
    sums: collections.Counter[str] = collections.Counter()
    faults = []
    for number, case, ended in campaign(chosen, min(told.lanes, len(chosen))):
        sums[ended.how] += 1
        if ended.is_fault:
            faults.append((number, case, ended))
        if told.only is not None:
            print(f"{case}: {ended.how}: {ended.said}")
    for number, case, ended in sorted(faults, key=lambda fault: fault[0]):
        print(f"FAULT {number} {case}: {ended.how}: {ended.said}")
    how = [
        "value",
        "refused",
        "class",
        "crash",
        "panic",
        "abort",
        "hang",
        "memory",
        "message",
        "silent",
    ]
    line: dict[str, Any] = {"calls": len(chosen), "callables": len(calls)}
    line["arguments"] = sum(len(one.arguments) for one in calls)
    line |= {name: sums[name] for name in how}
    print(json.dumps(line | {"seconds": round(time.monotonic() - began)}))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
