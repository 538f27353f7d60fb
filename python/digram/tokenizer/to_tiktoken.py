"""Tokenizers for programs that use the library tiktoken."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from digram._core import Core
from digram._util.validation import word
from digram.errors import OptionError

if TYPE_CHECKING:
    import tiktoken

    from digram.vocab.definition import Definition

__all__ = ["TiktokenCore"]


class TiktokenCore(Core):
    """The methods of `digram.Tokenizer` for tiktoken."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def definition(self) -> Definition: ...

    def to_tiktoken(self, name: str = "digram") -> tiktoken.Encoding:
        """Return a `tiktoken.Encoding` with the same ids; `name` is its name.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=259, special_tokens=["<|end|>"])
        >>> theirs = tok.to_tiktoken()
        >>> theirs.encode("lower<|end|>", allowed_special="all")
        [256, 119, 101, 114, 258]
        >>> tok.encode("lower<|end|>", special="parse")
        [256, 119, 101, 114, 258]

        The template, the roles and other settings of `tok(text)` have no place there. Raises
        `VocabError` if tiktoken cannot give the same ids, which needs bytes as units, merges in the
        order of ids, at most one pattern, and special tokens that are found exactly as written;
        `OptionError` if tiktoken is not installed. Takes time linear in the size of the vocabulary.
        """
        from digram.formats.tiktoken_plugin import parts

        try:
            import tiktoken
        except ImportError:
            raise OptionError(
                "this needs the package tiktoken.", hint="Install it: `pip install tiktoken`."
            ) from None
        found = parts(self.definition)
        return tiktoken.Encoding(
            word("name", name),
            pat_str=found.pattern,
            mergeable_ranks=found.ranks,
            special_tokens=found.special_tokens,
        )

    def save_tiktoken_plugin(self, folder: str | PathLike[str], name: str) -> None:
        """Write a small package after whose installation `tiktoken.get_encoding(name)` works.

        >>> import digram, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "plugin"
        >>> tok = digram.train("low low lower", vocab_size=258)
        >>> tok.save_tiktoken_plugin(folder, "low")
        >>> sorted(path.name for path in folder.rglob("*.*"))
        ['digram_low.py', 'digram_low.tiktoken', 'pyproject.toml']

        Install it with `pip install` and the name of the folder. `name` consists of ASCII letters,
        digits, ".", "_" and "-"; the names of published encodings are refused, since two plugins
        with one name make tiktoken fail for every encoding. Raises `OptionError` for such a name,
        the errors of `to_tiktoken`, and `OSError` if a file cannot be written.
        """
        from digram.formats.tiktoken_plugin import write_plugin

        write_plugin(self.definition, folder, name)
