"""All that there is to call, found by looking and by calling.

Every name of `digram.__all__`, every constructor and public method, and those of all that they
return.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from faults.composed_values import composed
from faults.valid_arguments import BESIDE, OBJECTS, OWNERS, VALID

import digram
from digram._util.read_only import ReadOnly

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

RETURNED = {"ArrowIds", "Decoder", "Encoding", "Encodings", "Intervals", "Reading", "RunningCount"}
RETURNED |= {"Chat", "DigramWarning", "TokenFiles"}
"""Classes that nobody makes objects of but the calls that return or show them."""

INNER = {"Alphabet", "IdRange"}
"""Classes of the inner rooms whose objects are held by those of the surface."""

UNCALLED = {"Chart.save", "Chart.svg", "Report.html", "Report.save", "Report.save_figures"}
"""What starts threads of other libraries, which a fork would not have: not called to look."""

INNER_METHODS = {"kind", "merges_of_words", "said", "splitter", "start_of", "texts", "texts_of"}
INNER_METHODS |= {"fault", "kernel", "made", "rows", "tables", "unreached"}
"""Methods of values by which the inner rooms ask what they hold."""


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


def surface() -> list[Called]:
    """All that there is to call, found by looking and by calling."""
    found: dict[str, Called] = {}
    classes: dict[type, Callable[[], Any]] = {}
    waiting: list[tuple[type, Callable[[], Any]]] = []
    unknown: list[str] = []

    def see(value: Any, get: Callable[[], Any]) -> None:
        """An object that was returned: its class is of the surface, if it is one of digram's."""
        # The methods of a read-only dictionary that are its own only refuse.
        kind = dict if isinstance(value, ReadOnly) else type(value)
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
    for name, call, valid in composed():
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
                take(called(full, partial(_part, OWNERS.get(full, get), name), static, 1))
    assert not unknown, "\n".join(["say in VALID or BESIDE how these are called:", *unknown])
    return [one for one in found.values() if one.arguments]


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


def _holds(kind: type) -> bool:
    """Whether a class only holds what it is given: then its constructor has nothing to refuse."""
    if issubclass(kind, tuple):
        return True
    made = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.init  # type: ignore[attr-defined]
    return made and not hasattr(kind, "__post_init__")


def _is_ours(kind: type, name: str) -> bool:
    home = next(base for base in kind.__mro__ if name in vars(base))
    return home.__module__.split(".")[0] == "digram"


def _part(get: Callable[[], Any], name: str) -> Any:
    """An attribute of what is got anew each time."""
    return getattr(get(), name)


def _item(get: Callable[[], Any], place: Any) -> Any:
    return get()[place]


def _itself(value: Any) -> Any:
    return value
