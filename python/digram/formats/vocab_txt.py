"""BERT's `vocab.txt`: the tokens of a WordPiece vocabulary, one on each line, in order of ids.

The file stores neither how text is normalized nor which tokens are special. The caller says
`encoding="bert-uncased"` or `encoding="bert-cased"`; or a `tokenizer_config.json` beside the file
does, as in the folders of published models; or the caller names a pretokenizer that makes words
with a space before each. The rest is as in BERT: the template, the names of the special tokens
unless `tokenizer_config.json` has others, and the cleanup of decoded text.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.errors import CorruptFileError, OptionError, VocabError
from digram.formats._check import Place, check, check_range
from digram.formats._json import decoded, expect, parse
from digram.formats._loss import refuse_matching, the, without
from digram.formats._published import MISSING, PretokenizerLike
from digram.formats._show import show
from digram.formats._wordpiece import name_of, spaced
from digram.pretokenizers.normalizers import BertNormalizer
from digram.pretokenizers.pretokenizer import Pretokenizer, resolve
from digram.pretokenizers.words import BERT_WORDS
from digram.vocab.definition import Definition
from digram.vocab.special_roles import SpecialRoles
from digram.vocab.special_tokens import SpecialToken
from digram.vocab.template import Template
from digram.vocab.wordpiece import MAX_WORD_CHARS, PREFIX, WordPieceModel

__all__ = ["ENCODINGS", "dumps", "encoding_of", "load", "loads", "of_names", "read", "write"]

_WHAT = "a vocab.txt"
CONFIG = "tokenizer_config.json"
"""The file beside it that says how text is normalized."""
_SPECIAL = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
"""The special tokens of BERT, by their names in `tokenizer_config.json`."""
_LOWERCASE = {"bert-uncased": True, "bert-cased": False}
_NO_IDS = frozenset(
    (
        *("template", "pad_token", "context_size", "chat_templates", "truncation", "padding"),
        "special_roles",
    )
)
"""Settings that change no id of `encode`."""


ENCODINGS = tuple(_LOWERCASE)
"""The names that `encoding=` may have for such a file."""


def encoding_of(pretokenizer: Pretokenizer) -> str | None:
    """The name of BERT's pretokenizers that means this one; None for any other.

    >>> encoding_of(of_bert(True)), encoding_of(Pretokenizer("gpt2"))
    ('bert-uncased', None)
    """
    return next((one for one in ENCODINGS if of_bert(_LOWERCASE[one]) == pretokenizer), None)


def of_bert(lowercase: bool, **more: Any) -> Pretokenizer:
    """The pretokenizer of BERT; `more` are other options of its normalizer."""
    return Pretokenizer(None, normalizer=[BertNormalizer(lowercase=lowercase, **more), BERT_WORDS])


def read(
    path: str | PathLike[str],
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
) -> Definition:
    """Read the definition in a vocab.txt; see `loads`. Also raises OSError."""
    return load(path_name(path), read_file(path), pretokenizer, encoding)


def load(
    path: str, data: bytes, pretokenizer: PretokenizerLike, encoding: str | None
) -> Definition:
    """Load a file, with the `tokenizer_config.json` beside it if neither argument is given."""
    config = None
    if pretokenizer is MISSING and encoding is None:
        beside = os.path.join(os.path.dirname(path), CONFIG)
        if os.path.exists(beside):
            config = expect(parse(read_file(beside), beside), dict, "the file", beside)
    return loads(data, path, pretokenizer=pretokenizer, encoding=encoding, config=config)


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a vocab.txt atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def loads(
    data: bytes,
    path: str | None = None,
    *,
    pretokenizer: PretokenizerLike = MISSING,
    encoding: str | None = None,
    config: Mapping[str, Any] | None = None,
) -> Definition:
    r"""The definition in the bytes of a vocab.txt; `path` is for messages.

    >>> definition = loads(b"[UNK]\n[CLS]\n[SEP]\nlow\n##er\n", encoding="bert-uncased")
    >>> definition.tokens, definition.special_tokens
    ([None, None, None, b' low', b'er'], {'[UNK]': 0, '[CLS]': 1, '[SEP]': 2})

    Exactly one of the three says how text is normalized: `encoding` is "bert-uncased" or
    "bert-cased", `config` is the content of a `tokenizer_config.json`. Lines may end in CR LF.

    Raises `OptionError` if none or two are given, `CorruptFileError` with the line for a damaged
    file, and `VocabError` for a token that is there twice or a missing unknown token.
    """
    cut = _pretokenizer(pretokenizer, encoding, config, path)
    names = decoded(data, path).replace("\r\n", "\n").split("\n")
    if not names[-1]:
        names.pop()
    lines: dict[str, int] = {}
    for line, name in enumerate(names, 1):
        if name != name.rstrip() or "\r" in name:
            raise CorruptFileError(
                f"the token {show(name)} ends with white space, which readers remove.",
                path=path,
                line=line,
                value=name,
                hint="Remove it.",
            )
        if lines.setdefault(name, line) != line:
            raise VocabError(
                f"the token {show(name)} is on line {lines[name]} too.",
                path=path,
                line=line,
                value=name,
                hint="Programs differ in which id they use. Replace one by an unused name.",
            )
    given = config or {}
    special = {key: _text_of(given, key, text, path) for key, text in _SPECIAL.items()}
    return of_names(names, cut, special=special, path=path)


def of_names(
    names: Sequence[str | None],
    pretokenizer: Pretokenizer,
    *,
    special: Mapping[str, str] = _SPECIAL,
    max_word_chars: int = MAX_WORD_CHARS,
    prefix: str = PREFIX,
    cleanup: bool = True,
    path: str | None = None,
) -> Definition:
    """The definition of a BERT vocabulary, given the name of each token as BERT's files write it.

    >>> cut = of_bert(lowercase=True)
    >>> of_names(["[UNK]", "low", "##er"], cut).tokens
    [None, b' low', b'er']

    None is an id without a token. `special` has the texts of `unk_token`, `cls_token`, `sep_token`,
    `pad_token` and `mask_token`; those that are not among the names are left out, with what needs
    them, except for the unknown token. `path` is for messages. Raises `VocabError`.
    """
    check_range(range(len(names)), path)
    ids = {name: id for id, name in enumerate(names) if name is not None}
    unknown = special["unk_token"]
    if unknown not in ids:
        raise VocabError(
            f"the unknown token {show(unknown)} is not in the vocabulary.",
            path=path,
            value=unknown,
            hint="Add it, or name another one: unk_token in tokenizer_config.json.",
        )
    found = {ids[text]: text for text in special.values() if text in ids}
    tokens: list[bytes | None] = [None] * len(names)
    for text, id in zip(spaced(ids, found.values(), prefix, path), ids.values(), strict=True):
        tokens[id] = None if id in found else text.encode()
    while tokens and tokens[-1] is None:
        tokens.pop()
    start, end, pad = (special[f"{name}_token"] for name in ("cls", "sep", "pad"))
    template = None
    if {start, end} <= {*found.values()}:
        single: list[str | tuple[str, int]] = [(start, 0), "$A", (end, 0)]
        template = Template(single, [*single, ("$B", 1), (end, 1)])
    roles = {role: special[f"{role}_token"] for role in ("unk", "sep", "cls", "mask")}
    return check(
        Definition(
            tokens=tokens,
            model=WordPieceModel(max_word_chars=max_word_chars, prefix=prefix),
            pretokenizer=pretokenizer,
            special_tokens={text: id for id, text in sorted(found.items())},
            unit="char",
            on_unknown=SpecialToken(unknown),
            template=template,
            pad_token=pad if pad in found.values() else None,
            special_roles=SpecialRoles(
                **{role: text for role, text in roles.items() if text in ids}
            ),
            strip_first_space=True,
            cleanup=cleanup,
        ),
        Place(path),
    )


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    """The bytes of a vocab.txt.

    Normalization is not stored; it must be said when the file is loaded. Raises `VocabError` for
    another model than WordPiece, a prefix other than `##`, ids without a token, and, unless
    `allow_loss` is true, for special tokens, templates and settings that are not those of BERT.
    """
    model = definition.model
    if not isinstance(model, WordPieceModel):
        raise VocabError(
            f"{_WHAT} can only store a WordPiece vocabulary, but the model of this tokenizer is of "
            f"the kind {show(model.kind)}.",
            value=model.kind,
            hint='Save it with format="huggingface".',
        )
    if model.prefix != PREFIX:
        raise VocabError(
            f"{_WHAT} cannot store the prefix {show(model.prefix)}.",
            value=model.prefix,
            hint='Save it with format="huggingface".',
        )
    refuse_matching(definition, _WHAT)
    names: dict[int, str] = {id: text for text, id in definition.special_tokens.items()}
    named = name_of(model.prefix)
    names |= {id: named(token) for id, token in enumerate(definition.tokens) if token is not None}
    lines = [names[id] for id in range(len(names)) if id in names]
    if len(lines) < len(names) or len({*lines}) < len(lines):
        problem = "ids without a token" if len(lines) < len(names) else "two tokens of one name"
        raise VocabError(
            f"{_WHAT} cannot store {problem}.", hint='Save it with format="huggingface".'
        )
    for name in lines:
        if name != name.rstrip() or "\n" in name or "\r" in name:
            raise VocabError(
                f"{_WHAT} cannot store the token {show(name)}: readers would change it.",
                value=name,
                hint='Save it with format="huggingface".',
            )
    if not allow_loss:
        _refuse_loss(definition, lines)
    return "".join(f"{name}\n" for name in lines).encode()


def _refuse_loss(definition: Definition, names: list[str]) -> None:
    """Raises `VocabError` unless `loads` gives an equal definition, but for normalization."""
    if "[UNK]" not in names or definition.on_unknown != SpecialToken("[UNK]"):
        what = f"the unknown token {definition.on_unknown!r}"
    else:
        back = of_names(names, definition.pretokenizer)
        fields = (
            *("special_tokens", "model", "template", "pad_token", "context_size", "reserved"),
            *(
                "strip_first_space",
                "cleanup",
                "decoding",
                "chat_templates",
                "truncation",
                "padding",
            ),
        )
        differ = [one for one in fields if getattr(back, one) != getattr(definition, one)]
        roles = definition.special_roles
        if roles not in (SpecialRoles(), back.special_roles):
            differ.append("special_roles")
        if not differ:
            return
        what = f"{the(differ)} of this tokenizer"
        if _NO_IDS.issuperset(differ):
            raise VocabError(
                f"{_WHAT} cannot store {what}.",
                hint=f'Save it with format="huggingface", or {without(len(differ))}.',
            )
    raise VocabError(
        f"{_WHAT} cannot store {what}: readers assume what BERT has.",
        hint='Save it with format="huggingface", or pass allow_loss=True to accept this.',
    )


def _pretokenizer(
    pretokenizer: PretokenizerLike,
    encoding: str | None,
    config: Mapping[str, Any] | None,
    path: str | None,
) -> Pretokenizer:
    """The pretokenizer that was asked for; nothing is guessed."""
    given = (pretokenizer is not MISSING) + (encoding is not None) + (config is not None)
    if given != 1:
        state = "none was given" if given == 0 else "two were given"
        raise OptionError(
            f"{_WHAT} does not say how text is normalized; exactly one argument must, but {state}.",
            path=path,
            hint='Pass encoding="bert-uncased" or encoding="bert-cased", or put the '
            f"{CONFIG} of the model beside the file.",
        )
    if encoding is not None:
        if encoding not in _LOWERCASE:
            raise OptionError(
                f"encoding={show(encoding)} is not known for {_WHAT}.",
                path=path,
                value=encoding,
                hint=f"Choose from {', '.join(_LOWERCASE)}.",
            )
        return of_bert(_LOWERCASE[encoding])
    if config is not None:
        return _of_config(config, path)
    assert pretokenizer is not MISSING
    cut = resolve(pretokenizer)
    if not all(word.startswith(" ") for word in cut.splitter().split("one two")):
        raise OptionError(
            f"{_WHAT} needs words with a space before each, which {cut!r} does not make.",
            path=path,
            value=cut,
            hint="Give it a normalizer that ends with digram.pretokenizers.BERT_WORDS.",
        )
    return cut


def _of_config(config: Mapping[str, Any], path: str | None) -> Pretokenizer:
    """The pretokenizer that a `tokenizer_config.json` describes."""
    options: dict[str, Any] = {}
    for key, name in (
        ("do_lower_case", "lowercase"),
        ("strip_accents", "strip_accents"),
        ("tokenize_chinese_chars", "handle_chinese_chars"),
    ):
        value = config.get(key)
        if value is not None:
            options[name] = expect(value, bool, f"{key} of {CONFIG}", path)
    if config.get("do_basic_tokenize") is False or config.get("never_split"):
        raise VocabError(
            f"do_basic_tokenize and never_split of {CONFIG} are not supported.",
            path=path,
            hint='Load the tokenizer.json of the model, or pass encoding="bert-uncased".',
        )
    if "lowercase" not in options:
        raise VocabError(
            f"{CONFIG} does not say do_lower_case.",
            path=path,
            hint='Pass encoding="bert-uncased" or encoding="bert-cased".',
        )
    return of_bert(**options)


def _text_of(config: Mapping[str, Any], key: str, default: str, path: str | None) -> str:
    """The text of a special token in a `tokenizer_config.json`."""
    value = config.get(key)
    if isinstance(value, dict):
        value = value.get("content")
    return default if value is None else expect(value, str, f"{key} of {CONFIG}", path)
