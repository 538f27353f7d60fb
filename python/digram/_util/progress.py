"""Progress bars; silent unless stderr is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from digram._util.validation import flag

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, Task
    from rich.table import Table

__all__ = ["amount", "differences", "memory_in_use", "note", "progress", "progress_of_all"]

_EVERY = 0.1  # seconds between updates; a merge takes microseconds, redrawing takes longer


@contextmanager
def progress(
    description: str, total: int | None = None, unit: str = "B", enabled: bool | None = None
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on stderr during the block; call the given function to advance it.

    >>> with progress("Reading", total=300, unit="B") as advance:
    ...     for block in (100, 100, 100):
    ...         advance(block)

    Shows the progress, the rate, the memory in use and, if `total` is known, the time left; `unit`
    is "B" for bytes or a plural such as "merges". The bar fits 80 columns; on a narrower terminal
    memory, rate, bar and time are left out, in this order, so that it stays on one line. When the
    block ends without an error, the bar is drawn once more; for bytes it is then complete, since
    separators do not advance it. The bar is drawn if stderr is a terminal, and removed at the end;
    `enabled` overrides this. `NO_COLOR` is respected. A call takes about half a microsecond, and no
    library is imported if no bar is drawn.
    """
    if not (_is_terminal() if enabled is None else flag("progress", enabled)):
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    line = BarColumn(bar_width=12)
    rate = TextColumn("{task.fields[rate]}", style="cyan")
    memory = [_memory_column()] if memory_in_use() is not None else []
    left = [TimeRemainingColumn()] if total else []
    named, part = TextColumn("{task.description}"), TextColumn("{task.fields[done]}")
    console = Console(stderr=True, force_terminal=True)
    with _one_line(
        [named, line, part, rate, *memory, *left], [*memory, rate, line, *left], console
    ) as bar:
        task = bar.add_task(description, total=total, done=_part(0, total, unit), rate="")
        started = last = time.monotonic()
        done = 0

        def show(now: float) -> None:
            speed = f"{amount(done / max(now - started, 1e-9), unit)}/s"
            bar.update(task, completed=done, done=_part(done, total, unit), rate=speed)

        def advance(more: int) -> None:
            nonlocal done, last
            done += more
            now = time.monotonic()
            if now - last >= _EVERY:
                last = now
                show(now)

        yield advance
        if unit == "B" and total is not None:
            done = max(done, total)
        show(time.monotonic())  # the last state, before the bar is removed


@contextmanager
def progress_of_all(
    description: str, unit: str, enabled: bool | None = None
) -> Iterator[Callable[[int, int], None]]:
    """Like `progress`, for work whose total is known only after it has started.

    >>> with progress_of_all("Joining", unit="pretokens") as tell:
    ...     for done in (100, 200, 300):
    ...         tell(done, 300)

    The bar is shown at the first call.
    """
    with ExitStack() as shown:
        to: Callable[[int], None] | None = None

        def tell(done: int, all: int) -> None:
            nonlocal to
            if to is None:
                to = differences(shown.enter_context(progress(description, all, unit, enabled)))
            to(done)

        yield tell


def differences(advance: Callable[[int], None]) -> Callable[[int], None]:
    """A function that takes the total done so far, and calls `advance` with the difference.

    >>> to = differences(print)
    >>> to(3), to(10)
    3
    7
    (None, None)
    """
    done = 0

    def to(now: int) -> None:
        nonlocal done
        advance(now - done)
        done = now

    return to


def note(line: str, enabled: bool | None = None) -> None:
    """Print a line on stderr if `progress` would draw a bar."""
    if (_is_terminal() if enabled is None else enabled) and sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


def amount(number: float, unit: str = "B") -> str:
    """A quantity for people, rounded to three digits or more.

    >>> amount(28_612_345), amount(7), amount(1_234_567, "merges")
    ('28.6 MB', '7 B', '1,234,567 merges')

    Bytes are decimal: 1 MB is 1,000,000 of them.
    """
    if unit != "B":
        return f"{number:,.0f} {unit}"
    if number < 1000:
        return f"{number:.0f} B"
    for prefix in "kMGTPE":
        number /= 1000
        if number < 999.5 or prefix == "E":
            break
    return f"{number:.{0 if number >= 100 else 1 if number >= 10 else 2}f} {prefix}B"


def memory_in_use() -> int | None:
    """The memory in use by this process, in bytes; None if it is not known."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # only on Linux
        return None


def _one_line(
    columns: list[ProgressColumn], dispensable: list[ProgressColumn], console: Console
) -> Progress:
    """A display that leaves out columns, in the order of `dispensable`, until it fits."""
    from rich.progress import Progress

    class OneLine(Progress):
        def make_tasks_table(self, tasks: Iterable[Task]) -> Table:
            # If the line were wrapped, each redraw would leave a part of the previous one. The
            # width is checked each time, since windows can be resized.
            tasks, shown = list(tasks), list(columns)
            unbounded = console.options.update(max_width=10_000)
            for column in [None, *dispensable]:
                if column is not None:
                    shown.remove(column)
                self.columns = tuple(shown)
                table = super().make_tasks_table(tasks)
                if console.measure(table, options=unbounded).maximum <= console.width:
                    break
            return table

    return OneLine(*columns, console=console, transient=True)


def _memory_column() -> ProgressColumn:
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Memory(ProgressColumn):
        """Updated at each redraw, even without progress."""

        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            return Text(f"memory {amount(memory_in_use() or 0)}")

    return Memory()


def _part(done: int, total: int | None, unit: str) -> str:
    if total is None:
        return amount(done, unit)
    if unit == "B":
        return f"{amount(done)} of {amount(total)}"
    return f"{done:,} of {total:,}"


def _is_terminal() -> bool:
    stderr = sys.stderr
    return (
        stderr is not None
        and not stderr.closed
        and stderr.isatty()
        and os.environ.get("TERM") != "dumb"
    )


def _silent(_more: int) -> None:
    pass
