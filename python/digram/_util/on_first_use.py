"""Packages whose modules are imported when one of their names is first used (PEP 562).

Making a class of values takes Python half a millisecond, and a package has dozens of which a
program uses a few.
"""

from __future__ import annotations

# Type checkers take this name for True. `typing` itself would be most of the import's time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

__all__ = ["on_first_use"]


def on_first_use(
    package: str, names_of: Mapping[str, Sequence[str]], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package.

    `names_of` lists the names that the package takes from each of its modules; if several modules
    list a name, it is taken from the last one. `modules` are the modules that are available as
    attributes of the package. A name is looked up once and then stored in the package.

    >>> get, names = on_first_use("digram", {"errors": ["DigramError"]}, ["formats"])
    >>> "DigramError" in names()
    True
    >>> get("DigramError"), get("formats").__name__
    (<class 'digram.errors.DigramError'>, 'digram.formats')
    >>> get("other")
    Traceback (most recent call last):
        ...
    AttributeError: module 'digram' has no attribute 'other'
    """
    module_of = {name: module for module, names in names_of.items() for name in names}
    own = frozenset(modules)

    def get(name: str) -> Any:
        import importlib
        import sys

        if name in own:
            return importlib.import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        import sys

        return sorted({*vars(sys.modules[package]), *module_of, *own})

    return get, names
