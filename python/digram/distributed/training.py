"""From a cluster's counts to a tokenizer; its options are checked before the cluster starts."""

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

# Options that would have an effect while the options are only being checked.
_ACTING = {"checkpoint", "on_merge", "progress"}
_ITERABLES = {"alphabet", "special_tokens"}


def cut_of(pretokenizer: PretokenizerLike, options: dict[str, Any]) -> Pretokenizer:
    """The pretokenizer of the workers: the given one, with the rules, which leave the options."""
    cut = resolve("o200k" if pretokenizer is MISSING else pretokenizer)
    rules = options.pop("rules", None)
    return cut if rules is None else cut.with_rules(rules)


def trained(
    count: Callable[[], Counts], task: CountTexts, options: dict[str, Any], ordered: bool
) -> Tokenizer:
    """Train on the result of `count`, with the options of `digram.train`.

    The options are first checked by training on no text, so that a wrong one does not waste the
    time of counting. `ordered` says whether first occurrences will be known.
    """
    if options.get("superwords") is not None:
        raise OptionError(
            "workers count words, and superwords are learned from whole lines.",
            value=options["superwords"],
            hint="Train them with digram.train, on a sample of the corpus.",
        )
    for name in _ITERABLES & options.keys():
        # Iterated twice. `train` itself refuses a str.
        if not isinstance(options[name], str):
            options[name] = list(options[name])
    if options.get("ties") == "first_seen" and not ordered:
        raise OptionError(
            'ties="first_seen" needs an order of the texts, and the rows of a cluster have none.',
            value="first_seen",
            hint='Choose ties="ids", or number the shards with digram.distributed.executor.',
        )
    tried = {name: value for name, value in options.items() if name not in _ACTING}
    train(task([]), progress=False, **tried)
    return train(count(), **options)
