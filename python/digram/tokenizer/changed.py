"""New tokenizers that differ from one in a single respect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from digram._core import Core
from digram._util.validation import choice, instance, iterable
from digram.errors import OptionError, VocabError
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import require_ranked
from digram.vocab.packed import Compact, compacted
from digram.vocab.settings import Side

if TYPE_CHECKING:
    from digram.pretokenizers.rules import Rules
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.vocab.definition import Definition
    from digram.vocab.settings import Settings
    from digram.vocab.template import Template

__all__ = ["ChangedCore"]


class ChangedCore(Core):
    """The methods of `digram.Tokenizer` that return another tokenizer."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def definition(self) -> Definition: ...
        @property
        def _settings(self) -> Settings: ...
        @property
        def pad_token(self) -> str | None: ...
        @classmethod
        def _of(cls, compact: Compact) -> Tokenizer: ...

    def with_special_tokens(self, tokens: Iterable[str] | Mapping[str, int]) -> Tokenizer:
        """Return a new tokenizer with additional special tokens.

        >>> import digram
        >>> tok = digram.train("a", max_merges=0)
        >>> chat = tok.with_special_tokens(["<|user|>", "<|bot|>"])
        >>> chat.special_tokens
        {'<|user|>': 256, '<|bot|>': 257}
        >>> chat.encode("<|user|>a", special="parse")
        [256, 97]

        `tokens` is several texts, which get the ids after the highest existing one, in order; or a
        mapping from texts to ids. Raises `OptionError` for a special token that exists already, and
        `VocabError` for an id that is in use. Takes time linear in the number of special tokens.
        """
        if isinstance(tokens, str | bytes):
            raise TypeError("tokens is several special tokens; put a single one in a list")
        if isinstance(tokens, Mapping):
            added = dict(tokens)
        else:
            added = {}
            for text in iterable("tokens", tokens, "several special tokens"):
                added[text] = self.vocab_size + len(added)
        special = self.special_tokens
        known = special.keys() & added.keys()
        if known:
            first = min(known)
            raise OptionError(
                f"{first!r} is already a special token of this tokenizer.",
                value=first,
                hint=f"Leave it out; its id is {special[first]}.",
            )
        try:
            return self._of(Compact(self._model, special | added, self._settings))
        except VocabError as error:  # of the core, about an id
            error.hint = error.hint or f"All ids from {self.vocab_size} on are free."
            raise

    def with_template(self, template: Template | None) -> Tokenizer:
        """Return a new tokenizer with another template for `tok(text)`; None removes it.

        >>> import digram
        >>> tok = digram.train("a", max_merges=0, special_tokens=["<s>"])
        >>> tok.with_template(digram.Template("<s> $A"))("a").ids
        [256, 97]

        `encode` is not affected. Raises `OptionError` for a special token that does not exist.
        """
        from digram.vocab.template import Template

        if template is not None and not isinstance(template, Template):
            kind = type(template).__name__
            raise TypeError(f"template is a digram.Template or None, not {kind}")
        return self._with(self._settings._replace(template=template))

    def with_context_size(self, context_size: int | None) -> Tokenizer:
        """Return a new tokenizer with another context size; None removes it.

        >>> import digram
        >>> tok = digram.train("low low", max_merges=2).with_context_size(3)
        >>> len(tok("low lower", max_length="context"))
        3

        `context_size` is a number of tokens. Raises `OptionError` if it is less than 1.
        """
        return self._with(self._settings._replace(context_size=context_size))

    def with_pad_token(self, pad_token: str | None) -> Tokenizer:
        """Return a new tokenizer with another token for `tok(text, padding=...)`; None removes it.

        >>> import digram
        >>> tok = digram.train("low low", max_merges=2, special_tokens=["<pad>"])
        >>> tok = tok.with_pad_token("<pad>")
        >>> tok(["low", "low!"], padding="longest").ids
        [[257, 258], [257, 33]]

        `pad_token` is the text of a special token. If `tok.padding` has the token that was that,
        it has this one too, or is removed. Raises `OptionError` if the token does not exist.
        """
        padding = self._settings.padding
        if padding is not None and padding.id is None and padding.token == self.pad_token:
            padding = None if pad_token is None else replace(padding, token=pad_token)
        return self._with(self._settings._replace(pad_token=pad_token, padding=padding))

    def with_padding_side(self, side: Side) -> Tokenizer:
        """Return a new tokenizer that pads texts at the other side, "left" or "right".

        >>> import digram
        >>> tok = digram.train("low low", max_merges=2, special_tokens=["<pad>"])
        >>> tok = tok.with_pad_token("<pad>").with_padding_side("left")
        >>> tok(["low", "low!"], padding="longest").ids
        [[258, 257], [257, 33]]

        It applies to `tok(text, padding=...)` without `padding_side=`, and is in the files of
        `save_pretrained`. Raises `OptionError` for another side.
        """
        return self._with(self._settings._replace(padding_side=side))

    def with_truncation_side(self, side: Side) -> Tokenizer:
        """Return a new tokenizer that truncates texts at the other side, "left" or "right".

        >>> import digram
        >>> tok = digram.train("low low", max_merges=2).with_truncation_side("left")
        >>> tok("low!", max_length=1).tokens
        [b'!']

        It applies to `tok(text, max_length=...)` without `truncation_side=`, and is in the files of
        `save_pretrained`. Raises `OptionError` for another side.
        """
        return self._with(self._settings._replace(truncation_side=side))

    def with_rules(self, rules: Rules | None) -> Tokenizer:
        """Return a new tokenizer with other rules, and with tokens for their terms and units.

        >>> import digram
        >>> tok = digram.train("a dose of 5 mg", vocab_size=260, pretokenizer="gpt2")
        >>> ruled = tok.with_rules(digram.Rules(["metformin"], units=["mg"]))
        >>> ruled.tokens(digram.Change.of(tok, ruled).added)
        [b'metformin', b' metformin', b'mg', b' mg']
        >>> ruled.tokens(ruled.encode("metformin 5mg 5-mg"))
        [b'metformin', b' 5', b'mg', b' 5', b'-', b'mg']

        Terms and units that are not tokens yet get new ids after the highest one. Text is first
        split by the rules, and a pretoken that is a token is encoded as that token. Old ids keep
        their meaning; a text gets other ids where the rules split it, and where a whole pretoken is
        a token that no merge makes. Existing rules are replaced, but their tokens are kept; None
        removes the rules. Forbidden merges and tokens only affect a later `extend`; existing tokens
        are kept. `prefer` only affects training. `extend`, `prune` and `shrink` keep the tokens of
        rules.

        Also works for published vocabularies. `digram.Change.of` compares the ids. Raises
        `OptionError` if `unit` is "char", and for PickyBPE and boundless superwords. Takes time
        linear in the size of the vocabulary.
        """
        from digram.pretokenizers.rules import Rules
        from digram.vocab.reserved_ids import multiple_of, padded, without_padding
        from digram.vocab.rule_tokens import protecting

        if rules is not None:
            instance("rules", rules, Rules)
        require_ranked(self._settings.kernel, "with_rules")
        definition = self.definition
        multiple, whole = multiple_of(definition), without_padding(definition)
        if rules is None:
            ruled = replace(whole, pretokenizer=whole.pretokenizer.with_rules(None))
        else:
            ruled = protecting(whole, rules)
        return self._of(compacted(padded(ruled, multiple)))

    def with_segmentation(self, segmentation: Literal["fewest"]) -> Tokenizer:
        """Return a tokenizer with the same vocabulary that encodes into the fewest tokens.

        >>> import digram
        >>> tok = digram.train(["ab"] * 5 + ["bcd"] * 3, max_merges=3, pretokenizer=None)
        >>> tok.tokens(tok.encode("abcd"))
        [b'ab', b'c', b'd']
        >>> fewest = tok.with_segmentation("fewest")
        >>> fewest.tokens(fewest.encode("abcd"))
        [b'a', b'bcd']

        Merges are greedy: a pretoken may become more tokens than it needs. Here it becomes the
        fewest; of equal numbers, those with the longest first token, then with the longest second
        one, and so on. All methods apply it, so that `digram.compare` and `digram.evaluate` say
        what the merges cost on a corpus. Models are trained on the ids of merges, so use these ids
        for a model that was trained on them. Only digram's own format stores the tokenizer.

        Raises `OptionError` for another segmentation, for a model other than BPE, and for merges
        that are not applied by rank alone. Encoding takes time linear in the text and in the length
        of the longest token.
        """
        from digram.vocab.schemes import Fewest

        choice("segmentation", segmentation, "fewest")
        kernel = require_ranked(self._settings.kernel, "with_segmentation")
        kernel = replace(kernel, ignore_merges=False, scheme=Fewest())
        return self._with(self._settings._replace(kernel=kernel))

    def _uncut(self) -> Tokenizer:
        """The tokenizer without a pretokenizer, for encoding single pretokens."""
        return self._with(self._settings._replace(pretokenizer=Pretokenizer(None), matching=None))

    def _with(self, settings: Settings) -> Tokenizer:
        return self._of(Compact(self._model, self.special_tokens, settings))
