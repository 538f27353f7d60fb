"""What a run leaves to go on from, histories, and id spaces."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from vocabularies import CORPUS

import digram
from file_kinds.kind import Kind, described, files_of
from file_kinds.token_files import TOK


def runs() -> Iterable[Kind]:
    texts = [CORPUS, "low lower lowest " * 20]
    named = {"a": [CORPUS], "b": ["low lower lowest " * 20]}
    for title, source in (("checkpoint", texts), ("checkpoint of two sources", named)):

        def trained(folder: Path, merges: int = 40, source: Any = source) -> Any:
            tok = digram.train(
                source, max_merges=merges, checkpoint=folder, threads=1, pretokenizer="gpt2"
            )
            return described(tok)

        files = files_of(partial(trained, merges=15))
        yield Kind(title, files, trained, sealed=True, form="json")

    def history(folder: Path) -> None:
        made = (
            digram.VocabularyHistory(pretokenizer="whitespace")
            .add("low low lower", name="a")
            .decay(0.9)
        )
        made = made.next(vocab_size=258, special_tokens=["<s>"]).add("newest news", name="b")
        made.next(add=2).forget(name="a").save(folder)

    def history_again(folder: Path) -> Any:
        found = digram.VocabularyHistory.load(folder)
        again = files_of(found.save)
        newer = found.add("more and more", name="c").next(add=1)
        digests = [version.tokenizer.digest for version in newer.versions]
        return [sorted((n, hashlib.sha256(d).hexdigest()) for n, d in again.items()), digests]

    yield Kind("history.json", files_of(history), history_again, sealed=True, form="json")

    def space(folder: Path) -> None:
        folder.mkdir()
        markers = {"image": ("<image>", "</image>")}
        ranges: dict[str, Any] = {"text": TOK, "image": 64, "control": ["<image>", "</image>"]}
        made = digram.IdSpace(ranges, markers=markers)
        made.save(folder / "space.json")

    def space_again(folder: Path) -> Any:
        found = digram.IdSpace.load(folder / "space.json", tokenizers={"text": TOK})
        ids = found.encode([("text", "low"), ("image", [3, 4])])
        return [found.size, list(map(int, ids)), repr(found), repr(found.decode(ids))]

    yield Kind("an id space", files_of(space), space_again, sealed=True, form="json")
