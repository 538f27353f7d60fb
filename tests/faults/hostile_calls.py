"""Calls the whole public surface with hostile values, each call in a process of its own.

`python tests/faults/hostile_calls.py --calls 14000` takes some minutes; the suite takes a share.
What is called is found by looking (`public_surface.py`). In a call one argument is hostile
(`hostile_values.py`) and the others are as they should be (`valid_arguments.py`). A call may give a
result, `DigramError`, `TypeError`, `OSError` or `MemoryError`, or let through what a foreign object
raised; all else is a fault. A call has a name and a number, and is the same each time: `--name
Tokenizer.encode` makes those that have this in their names, `--value surrogate` those of the values
that do, and `--only 17` reports one in full.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
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
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.hostile_values import VALUES, ForeignError
from faults.public_surface import Called, surface
from forked import Ended, forked

import digram

ALLOWED: tuple[type[BaseException], ...] = (
    digram.DigramError,
    TypeError,
    OSError,
    MemoryError,
    ForeignError,
)

PATIENCE = 3

_LOOKED_AT = 50  # items of a result that is iterated over

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
