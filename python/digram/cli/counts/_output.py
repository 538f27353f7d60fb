"""Shared by the verbs of `counts`: saving counts and reporting them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _printing, _saving
from digram.errors import several

if TYPE_CHECKING:
    from digram.training.counts import Counts

__all__ = ["facts", "output_option", "rehearse", "save"]

output_option = click.option(
    "-o",
    "--output",
    "output_",
    metavar="PATH",
    required=True,
    help="Where to save the counts. An existing file is replaced atomically.",
)


def rehearse(output: str) -> None:
    """Check the output before counting, which may take hours."""
    _saving.refuse_stdout("-o", output, "counts are written to a file")
    _saving.check_parent(output)
    if output.lower().endswith(".parquet"):
        from digram.training.counts.files import pyarrow

        pyarrow("Parquet")


def save(counts: Counts, output: str, seconds: float, quiet: bool, as_json: bool) -> None:
    """Save counts, and report them."""
    from digram._util.progress import amount

    counts.save(Path(output))
    if not quiet:
        _printing.log(
            f"Counted {several(counts.pretokens, 'pretoken')}, {len(counts):,} of them "
            f"distinct, in {amount(counts.bytes)} of "
            f"{several(counts.documents, 'document')}, in {seconds:.1f} s.\n"
            f"Saved {output}"
        )
    if as_json:
        _printing.emit_json({"path": output, **facts(counts), "seconds": round(seconds, 3)})


def facts(counts: Counts) -> dict[str, Any]:
    """Facts about counts, without the pretokens themselves."""
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
