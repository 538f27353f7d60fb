"""Merge trees in a browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page
from web.looking import DRAWN, seen, until

import digram
from digram.web import Server

Open = Callable[..., Page]
LEAVES = f"""() => [...document.querySelectorAll('.tree')].map((tree) =>
  [...tree.querySelectorAll('.branches li')].filter((one) => !one.querySelector('ul'))
    .map((one) => ({DRAWN})([one.querySelector('.chip')])[0]))"""


def figures(page: Page) -> list[str]:
    return seen(page, "figcaption")


def test_trees_of_a_text(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    page = opened(server, "tree")
    page.fill("#word", "the cats")
    ids = tok.encode("the cats")
    until(page, f"document.querySelectorAll('.tree').length === {len(ids)}")
    until(page, f"document.querySelector('figcaption').textContent.includes('id {ids[0]},')")
    merges = {merge.id: merge for merge in tok.merge_log}
    for id, told, leaves in zip(ids, figures(page), page.evaluate(LEAVES), strict=True):
        token = tok.id_to_token(id)
        if id in merges:
            one = merges[id]
            assert f"rank {one.rank:,}, counted {one.count:,} times" in told
        else:
            assert told.endswith(", a byte")
        assert "".join(leaves) == token.decode().replace(" ", "·")
        assert all(len(leaf) == 1 for leaf in leaves)


def test_the_merges_in_their_order(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    longest = max(tok.merge_log, key=lambda merge: len(merge.token))
    page = opened(server, f"tree/0/{longest.id}")
    page.wait_for_selector(".tree summary")
    page.click(".tree summary")
    steps = seen(page, ".merges li")
    made = {merge.token: merge for merge in tok.merge_log}

    def inside(token: bytes) -> set[bytes]:
        one = made.get(token)
        return {token} | inside(one.left) | inside(one.right) if one else set()

    wanted = sorted((made[token] for token in inside(longest.token)), key=lambda one: one.rank)
    assert len(steps) == len(wanted)
    for step, merge in zip(steps, wanted, strict=True):
        left, right, token = (
            part.decode().replace(" ", "·") for part in (merge.left, merge.right, merge.token)
        )
        assert (
            step == f"{left} + {right} → {token} rank {merge.rank}, counted {merge.count:,} times"
        )


def test_from_a_token_to_its_parts_and_back(
    opened: Open, server: Server, tok: digram.Tokenizer
) -> None:
    last = tok.merge_log[-1]
    page = opened(server, f"tree/0/{last.id}")
    page.wait_for_selector(".tree")
    page.click(".branches ul ul a.node >> nth=0")
    left = next(id for id in range(len(tok)) if tok.id_to_token(id) == last.left)
    until(page, f"document.querySelector('figcaption').textContent.includes('id {left},')")
    page.go_back()
    until(page, f"document.querySelector('figcaption').textContent.includes('id {last.id},')")


def test_tokenizers_have_trees_of_their_own(
    opened: Open, server: Server, other: digram.Tokenizer
) -> None:
    page = opened(server, "tree")
    page.wait_for_selector(".tree")
    page.select_option("select", "1")
    page.fill("#word", "there cats")
    ids = other.encode("there cats")
    until(page, f"document.querySelectorAll('.tree').length === {len(ids)}")
    until(page, f"document.querySelector('figcaption').textContent.includes('id {ids[0]},')")
    assert [told.partition(",")[0].rpartition(" ")[2] for told in figures(page)] == [*map(str, ids)]


def test_many_tokens_and_none(opened: Open, server: Server) -> None:
    page = opened(server, "tree")
    page.fill("#word", "x" * 100)
    until(page, "document.querySelectorAll('.tree').length === 24")
    assert page.text_content("[role=status]") == "100 tokens, of which the first 24 are shown"
    page.fill("#word", "")
    until(page, "document.querySelectorAll('.tree').length === 0")
    assert page.text_content("[role=status]") == "0 tokens"
