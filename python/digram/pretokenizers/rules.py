"""Rules of a domain: text that a tokenizer never splits, and text that it never joins.

Rules affect the pretokenizer, which stores them, and the vocabulary: text that must be one token is
a token from the start. docs/rules.md describes each rule; `digram.reference.rules` specifies which
text is cut out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from os import PathLike, fspath
from typing import Any, Literal, cast, get_args

from digram import _core
from digram._util.validation import choice, path_name
from digram.errors import CorruptFileError, OptionError, PatternError, show
from digram.pretokenizers.regex import Regex
from digram.pretokenizers.units import TABLE, spelling, spellings

__all__ = ["SEPARATORS", "Case", "Normalize", "Numbers", "Rules"]

Case = Literal["exact", "forms"]
Numbers = Literal["individual", "threes_from_left", "threes_from_right", "whole"]
Normalize = Literal["units"]

Pair = tuple[str, str]
Compiled = tuple[list[str], list[str], list[str], bool, bool]
"""Terms, units, patterns, whether numbers are whole, and whether they are split off."""

SEPARATORS = " \u00a0\u2009\u202f-\u2010\u2011"
"""Characters allowed between a number and its unit: spaces and hyphens."""


@dataclass(frozen=True, slots=True, init=False)
class Rules:
    r"""Rules of a domain for splitting text and for the vocabulary.

    >>> import digram
    >>> rules = digram.Rules(protect=["metformin"], units=True, numbers="individual")
    >>> notes = ["metformin 500 mg bid", "stopped metformin, 850mg"] * 3
    >>> tok = digram.train(notes, max_merges=20, rules=rules)
    >>> tok.tokens(tok.encode("then metformin 850-mg"))[-5:]
    [b'8', b'5', b'0', b'-', b'mg']
    >>> tok.tokens(tok.encode("metformin, (metformin)")).count(b"metformin")
    2

        protect: terms that are one token and never split: a list, or the `Path` of a file with one
            term per line. A term with the space before it is one token too.
        case: "exact" for terms as written; "forms" also adds them in lower case, capitalized, and
            in upper case.
        abbreviations: like `protect`, but always as written: `b.i.d.`, `i.v.`
        patterns: regexes (`digram.Regex`, or their text). No token extends beyond a match. Only
            frequent matches become single tokens. Look-ahead of one character is supported, but
            not look-behind.
        numbers: "individual" digits, groups of "threes_from_right" or "threes_from_left", or
            "whole" numbers with their decimals (`1,234.5`), beyond which no token extends. Except
            in whole numbers, decimal points and the dashes of ranges are separate.
        units: True for the table `digram.pretokenizers.units.TABLE`, or a list of units. After a
            number, a unit is the same token in `5mg`, `5 mg` and `5-mg`; a unit of two or more
            characters is also a term when there is no number before it.
        normalize: "units" to write units in one way before text is split: µ as the Greek letter
            U+03BC, the litre as L, and one space instead of up to eight, or non-breaking ones,
            between a number and its unit. Like other normalization, it cannot be undone.
        prefer: tokens, or pairs of tokens, whose merges precede all learned merges, in this order.
            A token is merged from the left.
        forbid: tokens, pairs of tokens, or regexes of whole tokens that no merge may make. Terms
            and units are tokens even if such a regex matches them.

    Text inside a word, between letters, marks or numbers, is never cut out. Rules can be compared,
    hashed and pickled, and are saved with the tokenizer. Raises `OptionError` for invalid values,
    `PatternError` for an unsupported regex, `OSError` for a file that cannot be read.
    """

    protect: tuple[str, ...]
    patterns: tuple[str, ...]
    abbreviations: tuple[str, ...]
    case: Case
    numbers: Numbers | None
    units: tuple[str, ...]
    normalize: Normalize | None
    prefer: tuple[str | Pair, ...]
    forbid: tuple[str | Pair | Regex, ...]

    def __init__(
        self,
        protect: Iterable[str] | PathLike[str] = (),
        *,
        patterns: Iterable[str | Regex] = (),
        abbreviations: Iterable[str] | PathLike[str] = (),
        case: Case = "exact",
        numbers: Numbers | None = None,
        units: Iterable[str] | bool | None = None,
        normalize: Normalize | None = None,
        prefer: Iterable[str | Pair] = (),
        forbid: Iterable[str | Pair | Regex] = (),
    ) -> None:
        choice("case", case, *get_args(Case))
        choice("numbers", numbers, None, *get_args(Numbers))
        choice("normalize", normalize, None, *get_args(Normalize))
        if units is None or isinstance(units, bool):
            units = sorted(TABLE) if units else ()
        given: dict[str, Any] = {
            "protect": _terms("protect", protect),
            "patterns": _each("patterns", patterns, _pattern),
            "abbreviations": _terms("abbreviations", abbreviations),
            "case": case,
            "numbers": numbers,
            "units": _terms("units", units),
            "normalize": normalize,
            "prefer": _each("prefer", prefer, _token_or_pair),
            "forbid": _each("forbid", forbid, _token_pair_or_regex),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if normalize and not self.units:
            raise OptionError(
                'normalize="units" has no effect without units.',
                value=normalize,
                hint="Pass units=True, or a list of units.",
            )
        self._forbidden()  # raises for unsupported regexes now, not at first use
        _core.Splitter([], None, self._compiled(False), self._normalizer(False))
        both = {*self.tokens()} & {text.encode() for text in _of(self.forbid, str)}
        if both:
            token = min(both).decode()
            raise OptionError(
                f"{show(token)} is forbidden, but other rules make it a token.",
                value=token,
                hint="Remove it from one of the rules.",
            )

    def forms(self) -> tuple[str, ...]:
        """The protected terms in all their forms, and the abbreviations.

        >>> Rules(["iron", "vitamin D"], case="forms", abbreviations=["p.o."]).forms()
        ('iron', 'Iron', 'IRON', 'vitamin D', 'vitamin d', 'Vitamin D', 'VITAMIN D', 'p.o.')
        """
        found = [form for term in self.protect for form in self._forms(term)]
        return tuple(dict.fromkeys([*found, *self.abbreviations]))

    def _forms(self, term: str) -> list[str]:
        capital = term[:1].upper() + term[1:]
        every = self.case == "forms"
        return [term, term.lower(), capital, term.upper()] if every else [term]

    def tokens(self) -> list[bytes]:
        """The tokens that rules add to the single bytes: terms, with and without a space before
        them, and units; units of two or more characters also with a space.

        >>> Rules(["iron"], units=["g", "mg"]).tokens()
        [b'iron', b' iron', b'mg', b' mg']
        """
        alone = [text for term in self.forms() for text in (term, f" {term}")]
        units = [
            t for unit in self._spelled_units() for t in (unit, *[f" {unit}"] * (len(unit) > 1))
        ]
        every = dict.fromkeys(text.encode() for text in (*alone, *units))
        return [token for token in every if len(token) > 1]

    def save(self, path: str | PathLike[str]) -> None:
        """Save the rules as JSON, for `load` and `digram train --rules`.

        >>> import digram, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.json"
        >>> digram.Rules(["iron"], units=["mg"]).save(path)
        >>> digram.Rules.load(path)
        Rules(protect=('iron',), units=('mg',))

        The file is replaced atomically.
        """
        from digram._util.storage import atomic_write

        written = json.dumps(self.to_dict(), ensure_ascii=False, indent=2)
        atomic_write(path, f"{written}\n".encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Rules:
        """Load rules from a JSON file with the names of arguments as keys.

        >>> import digram, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.json"
        >>> _ = path.write_text('{"units": true, "numbers": "individual", "forbid": ["in"]}')
        >>> len(digram.Rules.load(path).units) > 200
        True

        A pair is a list of two, and a forbidden regex is `{"regex": "..."}`. Raises
        `CorruptFileError` for an invalid file, `OptionError` and `PatternError` for invalid rules,
        `OSError`.
        """
        from digram._util.storage import read_file

        name = path_name(path)
        try:
            found = json.loads(read_file(name))
        except (ValueError, RecursionError) as error:
            raise CorruptFileError(
                f"the rules are not valid JSON: {error}.",
                path=name,
                hint="Use the format of Rules.save.",
            ) from None
        try:
            return cls.from_dict(found)
        except (TypeError, OptionError, PatternError) as error:
            if isinstance(error, TypeError):
                raise CorruptFileError(f"{error}.", path=name) from None
            raise type(error)(error.message, path=name, hint=error.hint) from None

    def to_dict(self) -> dict[str, Any]:
        """The rules as plain values for JSON, without defaults."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        plain = {
            name: [_plain(one) for one in value] if isinstance(value, tuple) else value
            for name, value in held.items()
        }
        nothing: tuple[object, ...] = ([], None, "exact")
        return {name: value for name, value in plain.items() if value not in nothing}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Rules:
        """The reverse of `to_dict`.

        >>> Rules.from_dict({"forbid": ["in", ["o", "n"], {"regex": "[0-9]+"}]})
        Rules(forbid=('in', ('o', 'n'), Regex(pattern='[0-9]+')))

        Raises `OptionError` for an unknown name, and the errors of `Rules`.
        """
        if not isinstance(data, Mapping):
            raise TypeError(f"rules are an object with names, not {show(data)}")
        known = [one.name for one in fields(cls)]
        for name in data:
            if name not in known:
                raise OptionError(
                    f"{show(name)} is not a kind of rule.",
                    value=name,
                    hint=f"Kinds: {', '.join(known)}.",
                )
        given = dict(data)
        for name in ("prefer", "forbid"):
            if isinstance(given.get(name), list):
                given[name] = [_from_plain(one) for one in given[name]]
        return cls(**given)

    def __repr__(self) -> str:
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        parts = [f"{n}={_short(value)}" for n, value in held.items() if value not in ((), None)]
        return f"Rules({', '.join(one for one in parts if one != 'case=' + repr('exact'))})"

    def _compiled(self, digits: bool) -> Compiled:
        """The rules for the core. `digits` says whether a policy splits digits."""
        return self._with_units(self._spelled_units(), digits)

    def _with_units(self, units: Iterable[str], digits: bool) -> Compiled:
        units = [*units]
        terms = [*self.forms(), *(unit for unit in units if len(unit) > 1)]
        whole = self.numbers == "whole"
        return terms, units, [*self.patterns], whole, whole or digits

    def _spelled_units(self) -> list[str]:
        """The units as text has them after normalization."""
        spelled = map(spelling, self.units) if self.normalize else self.units
        return [*dict.fromkeys(spelled)]

    def _normalizer(self, digits: bool) -> list[tuple[object, ...]]:
        """The stage for the core that writes units in one way, if there is one."""
        if not self.normalize:
            return []
        every, terms = spellings(self.units), {*self.forms()}
        # A protected term stays as it is.
        spelled = [(unit, one) for unit, one in every.items() if unit not in terms]
        return [("units", self._with_units(every, digits), spelled)]

    def _forbidden(self) -> _core.Forbidden:
        """The forbidden merges for the core."""
        pairs = [(a.encode(), b.encode()) for a, b in _of(self.forbid, tuple)]
        texts = [text.encode() for text in _of(self.forbid, str)]
        return _core.Forbidden(pairs, texts, [one.pattern for one in _of(self.forbid, Regex)])


def _of(values: Iterable[Any], kind: type) -> list[Any]:
    return [value for value in values if isinstance(value, kind)]


def _terms(name: str, given: Iterable[str] | PathLike[str]) -> tuple[str, ...]:
    if isinstance(given, PathLike):
        from digram._util.storage import read_file

        try:
            lines = read_file(given).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise CorruptFileError(
                f"the list of terms is not UTF-8, at byte {error.start}.",
                path=fspath(given),
                hint="Save it as UTF-8, with one term per line.",
            ) from None
        given = [line.strip() for line in lines if line.strip()]
    return _each(name, given, _term)


def _each(name: str, given: Iterable[Any], check: Any) -> tuple[Any, ...]:
    """Check each value, and remove duplicates."""
    if isinstance(given, str | bytes | Regex) or not isinstance(given, Iterable):
        raise TypeError(f"{name} is a list, not {show(given)}")
    return tuple(dict.fromkeys(check(f"{name}[{n}]", value) for n, value in enumerate(given)))


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{where} is a text, not {show(value)}")
    if not value:
        raise OptionError(f"{where} is empty.", value=value, hint="Leave it out.")
    if any("\ud800" <= c <= "\udfff" or c == "\ufffd" for c in value):
        raise OptionError(
            f"{where} = {show(value)} contains U+FFFD or a lone surrogate.",
            value=value,
        )
    return value


def _term(where: str, value: Any) -> str:
    text = _text(where, value)
    if text != text.strip():
        raise OptionError(
            f"{where} = {show(value)} begins or ends with white space.",
            value=value,
            hint="Remove it: the space before a term is included anyway.",
        )
    return text


def _pattern(where: str, value: Any) -> str:
    return _text(where, value.pattern if isinstance(value, Regex) else value)


def _token_or_pair(where: str, value: Any) -> str | Pair:
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise OptionError(f"{where} = {show(value)} is not a pair of tokens.", value=value)
        return cast(Pair, tuple(_text(where, part) for part in value))
    return _text(where, value)


def _token_pair_or_regex(where: str, value: Any) -> str | Pair | Regex:
    return value if isinstance(value, Regex) else _token_or_pair(where, value)


def _plain(value: str | Pair | Regex) -> Any:
    if isinstance(value, Regex):
        return {"regex": value.pattern}
    return list(value) if isinstance(value, tuple) else value


def _from_plain(value: Any) -> Any:
    return Regex(value["regex"]) if isinstance(value, dict) and [*value] == ["regex"] else value


def _short(value: Any) -> str:
    """The `repr` of a value, with long lists shortened."""
    if isinstance(value, tuple) and len(value) > 5:
        return f"({', '.join(map(repr, value[:3]))}, ... {len(value)} in all)"
    return repr(value)
