"""The questions of the page: their arguments and their answers are JSON values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from digram.errors import DigramError, OptionError, TokenIdError
from digram.web.measuring import curves, measures
from digram.web.problems import problem
from digram.web.seeing import Seeing
from digram.web.vocabulary import Vocabulary

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Answers"]

MOST_ROWS = 1000
"""The maximum number of rows of the vocabulary in one answer."""

_OTHER = "Load the page again: it may be from another version than the server."

T = TypeVar("T")


class _Named(NamedTuple):
    name: str
    tok: Tokenizer
    vocabulary: Vocabulary

    @property
    def seeing(self) -> Seeing:
        return Seeing(self.tok, self.vocabulary.symbols)


class Answers:
    """The questions that a page may ask about some tokenizers, by name.

    >>> import digram
    >>> tok = digram.train("low low", max_merges=2)
    >>> answers = Answers({"low": tok})
    >>> answers("encode", {"text": "lows", "tokenizers": [0]})
    {'encodings': [{'ids': [257, 115], 'sizes': [3, 1]}]}
    >>> answers("tree", {"tokenizer": 0, "id": 115})
    {'nodes': [{'level': 0, 'id': 115, 'hex': '73', 'kind': 'byte', 'rank': None, 'count': None}]}

    Answers are JSON values. Bytes are in hexadecimal, and texts are not sent back: the page has the
    text, and the sizes of the tokens give their boundaries. Raises `OptionError` for an unknown
    question or wrong arguments; otherwise what the tokenizer raises.
    """

    def __init__(self, tokenizers: Mapping[str, Tokenizer]) -> None:
        self._named = [_Named(name, tok, Vocabulary(tok)) for name, tok in tokenizers.items()]
        self._questions: dict[str, Callable[[_Arguments], dict[str, Any]]] = {
            "tokenizers": self._tokenizers,
            "encode": self._encode,
            "vocabulary": self._vocabulary,
            "tree": self._tree,
            "explain": self._explain,
            "steps": self._steps,
            "replay": self._replay,
            "curve": self._curve,
            "measures": self._measures,
        }

    long = frozenset({"explain", "steps", "replay", "curve", "measures"})
    """The names of the questions that may take seconds; best answered one at a time."""

    @property
    def questions(self) -> tuple[str, ...]:
        """The names of all questions."""
        return tuple(self._questions)

    def __call__(self, question: str, arguments: Any) -> dict[str, Any]:
        """Answer a question."""
        if question not in self._questions:
            names = ", ".join(self._questions)
            raise OptionError(
                f"{question!r:.40} is not a question; choose from {names}.",
                value=question,
                hint=_OTHER,
            )
        if type(arguments) is not dict:
            raise OptionError(
                "the arguments of a question must be an object.", value=arguments, hint=_OTHER
            )
        return self._questions[question](_Arguments(arguments))

    def _tokenizers(self, asked: _Arguments) -> dict[str, Any]:
        asked.none_left()
        return {"tokenizers": [_facts(name, tok) for name, tok, _ in self._named]}

    def _encode(self, asked: _Arguments) -> dict[str, Any]:
        text = asked.take("text", str)
        special = "parse" if asked.take("special", bool, False) else "text"
        wanted = self._several(asked.take("tokenizers", list))
        asked.none_left()
        return {"encodings": [_encoded(tok, text, special) for tok in wanted]}

    def _vocabulary(self, asked: _Arguments) -> dict[str, Any]:
        one = self._one(asked.take("tokenizer", int))
        search, by = asked.take("search", str, ""), asked.take("by", str, "text")
        sort, descending = asked.take("sort", str, "id"), asked.take("descending", bool, False)
        start, count = asked.take("start", int, 0), asked.take("count", int, 100)
        asked.none_left()
        if start < 0 or not 0 <= count <= MOST_ROWS:
            raise OptionError(
                f"start={start} and count={count} select no rows.",
                hint=f"A list starts at 0, and an answer has at most {MOST_ROWS:,} rows.",
            )
        return one.vocabulary.rows(
            search, by=by, sort=sort, descending=descending, start=start, count=count
        )

    def _tree(self, asked: _Arguments) -> dict[str, Any]:
        one = self._one(asked.take("tokenizer", int))
        id = asked.take("id", int)
        asked.none_left()
        if not 0 <= id < one.tok.vocab_size:  # may be too large for the core
            raise TokenIdError(
                f"{id} is not in this vocabulary (0..{one.tok.vocab_size - 1}).", value=id
            )
        return {"nodes": one.seeing.nodes(id)}

    def _explain(self, asked: _Arguments) -> dict[str, Any]:
        one, text = self._one(asked.take("tokenizer", int)), asked.take("text", str)
        special = "parse" if asked.take("special", bool, False) else "text"
        asked.none_left()
        return one.seeing.explained(text, special)

    def _steps(self, asked: _Arguments) -> dict[str, Any]:
        one, text = self._one(asked.take("tokenizer", int)), asked.take("text", str)
        special = "parse" if asked.take("special", bool, False) else "text"
        number = asked.take("pretoken", int)
        asked.none_left()
        return one.seeing.steps(text, special, number)

    def _replay(self, asked: _Arguments) -> dict[str, Any]:
        one, text = self._one(asked.take("tokenizer", int)), asked.take("text", str)
        asked.none_left()
        return one.seeing.replayed(text)

    def _curve(self, asked: _Arguments) -> dict[str, Any]:
        text, wanted = asked.take("text", str), self._several(asked.take("tokenizers", list))
        asked.none_left()
        return {"curves": curves(wanted, text)}

    def _measures(self, asked: _Arguments) -> dict[str, Any]:
        texts = _texts(asked.take("texts", list))
        reference = asked.take("reference", str) if asked.has("reference") else None
        wanted = self._several(asked.take("tokenizers", list))
        asked.none_left()
        return {"measures": measures(wanted, texts, reference)}

    def _several(self, numbers: list[Any]) -> list[Tokenizer]:
        if len(numbers) > len(self._named):
            raise OptionError(f"there are no {len(numbers)} tokenizers.", hint=_OTHER)
        return [self._one(number).tok for number in numbers]

    def _one(self, number: Any) -> _Named:
        if type(number) is not int or not 0 <= number < len(self._named):
            last = len(self._named) - 1
            raise OptionError(
                f"there is no tokenizer {number!r:.40} (0..{last}).", value=number, hint=_OTHER
            )
        return self._named[number]


_KINDS = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}


class _Arguments:
    """Arguments by name; each is taken once and has an exact type."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = dict(given)

    def take(self, name: str, kind: type[T], default: T | None = None) -> T:
        """The value of an argument, or its default if it is missing."""
        value = self._given.pop(name, default)
        if type(value) is not kind:  # exact, because True is an int
            missing = value is None
            found = "is missing" if missing else f"is {value!r:.80}, not {_KINDS[kind]}"
            raise OptionError(f"the argument {name!r} {found}.", value=value, hint=_OTHER)
        return value

    def has(self, name: str) -> bool:
        """Whether the argument was given and not yet taken."""
        return name in self._given

    def none_left(self) -> None:
        """Raise an error for arguments that the question does not take."""
        if self._given:
            name = min(self._given)
            raise OptionError(
                f"the question has no argument {name!r:.80}.", value=name, hint=_OTHER
            )


def _facts(name: str, tok: Tokenizer) -> dict[str, Any]:
    return {
        "name": name,
        "tokens": len(tok),
        "vocab_size": tok.vocab_size,
        "merges": len(tok._model.merges()),
        "special_tokens": len(tok.special_tokens),
        "unit": tok.unit,
        "pretokenizer": tok.pretokenizer.name
        or (" then ".join(tok.pretokenizer.patterns) if tok.pretokenizer.patterns else None),
        "has_counts": tok.training is not None,
    }


def _texts(given: list[Any]) -> dict[str, str]:
    """Texts by name, from a list of pairs; raises for other values, and for a repeated name."""
    found: dict[str, str] = {}
    for pair in given:
        if type(pair) is not list or len(pair) != 2 or not all(type(one) is str for one in pair):
            raise OptionError(f"{pair!r:.80} is not a name with a text.", value=pair, hint=_OTHER)
        name, text = pair
        if name in found:
            raise OptionError(
                f"two texts are named {name!r:.80}.", value=name, hint="Give each a different name."
            )
        found[name] = text
    return found


def _encoded(tok: Tokenizer, text: str, special: Any) -> dict[str, Any]:
    """Ids and the number of bytes of each token; or an error."""
    try:
        encoding = tok(text, special=special, add_special_tokens=False, offsets="bytes")
    except DigramError as error:
        return problem(error)
    # As an array: tuples for the tokens of a megabyte would take 200 MB.
    spans = encoding._call.encoded.numpy_spans()
    return {"ids": encoding.ids, "sizes": (spans[:, 1] - spans[:, 0]).tolist()}
