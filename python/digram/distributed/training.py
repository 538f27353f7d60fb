"""From counts that a cluster makes to a tokenizer; its options are checked before it starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from digram.distributed.tasks import CountTexts
from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, PretokenizerLike, resolve
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Counts
from digram.training.train import train

__all__ = ["cut_of", "trained"]

# What would act, and not only be looked at.
_ACTING = {"checkpoint", "on_merge", "progress"}
_ITERABLES = {"alphabet", "special_tokens"}


def cut_of(pretokenizer: PretokenizerLike, options: dict[str, Any]) -> Pretokenizer:
    """What workers cut by: what is asked for, by the rules that are taken out of the options."""
    cut = resolve("o200k" if pretokenizer is MISSING else pretokenizer)
    rules = options.pop("rules", None)
    return cut if rules is None else cut.with_rules(rules)


def trained(
    count: Callable[[], Counts], task: CountTexts, options: dict[str, Any], ordered: bool
) -> Tokenizer:
    """Train on what `count` returns, with the options of `digram.train`.

    They are tried on no text at all first, so that what is wrong with one of them does not cost
    the hour in which the cluster counts. `ordered` says whether first occurrences will be known.
    """
    if options.get("superwords") is not None:
        raise OptionError(
            "workers count words, and superwords are learned from the lines that they stand in.",
            value=options["superwords"],
            hint="Learn them with digram.train, from a sample of the corpus.",
        )
    for name in _ITERABLES & options.keys():
        # Iterated twice. A str is refused by `train` itself.
        if not isinstance(options[name], str):
            options[name] = list(options[name])
    if options.get("ties") == "first_seen" and not ordered:
        raise OptionError(
            'ties="first_seen" needs the order of the texts, and the rows of a cluster have none.',
            value="first_seen",
            hint='Choose ties="ids", or number the shards with digram.distributed.executor.',
        )
    tried = {name: value for name, value in options.items() if name not in _ACTING}
    train(task([]), progress=False, **tried)
    return train(count(), **options)
