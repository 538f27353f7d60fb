"""What the verbs of `counts` share: where counts are saved, and what is said of them."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import common

if TYPE_CHECKING:
    from digram.training.counts import Counts

__all__ = ["facts", "output_option", "rehearse", "save"]

output_option = click.option(
    "-o",
    "--output",
    "output_",
    metavar="PATH",
    required=True,
    help="Where to save the counts. Replaced at once or not at all.",
)


def rehearse(output: str) -> None:
    """What would fail at the end fails now, not after an hour."""
    common.check_folder("-o", output)
    parent = Path(output).parent
    if not parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(parent))
    if output.lower().endswith(".parquet"):
        from digram.training.counts.files import pyarrow

        pyarrow("Parquet")


def save(counts: Counts, output: str, seconds: float, quiet: bool, as_json: bool) -> None:
    """Save counts, and say what they are."""
    from digram._util.progress import amount

    counts.save(Path(output))
    if not quiet:
        common.log(
            f"Counted {common.several(counts.pretokens, 'pretoken')}, {len(counts):,} of them "
            f"different, in {amount(counts.bytes)} of "
            f"{common.several(counts.documents, 'document')}, in {seconds:.1f} s.\n"
            f"Saved {output}"
        )
    if as_json:
        common.emit_json({"path": output, **facts(counts), "seconds": round(seconds, 3)})


def facts(counts: Counts) -> dict[str, Any]:
    """What there is to say of counts, but for the pretokens themselves."""
    return {
        "distinct_pretokens": len(counts),
        "pretokens": counts.pretokens,
        "bytes": counts.bytes,
        "documents": counts.documents,
        "pretokenizer": counts.pretokenizer.name,
        "patterns": list(counts.pretokenizer.patterns),
        "digits": counts.pretokenizer.digits,
        "unit": counts.unit,
        "has_first": counts.has_first,
        "fingerprint": counts.fingerprint,
    }
