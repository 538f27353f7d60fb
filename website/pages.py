"""The pages of the site, of those in docs/: what `make docs` adds to them.

- A page of docs/reference has tables of names. Below them come the names themselves, with their
  signatures and docstrings; in a table of verbs, the verbs.
- README.md, CONTRIBUTING.md and CHANGELOG.md are pages too, and links lead to them. Other files of
  the repository that a page links to are copied.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File
from website.shell import verb

ROOT = Path(__file__).parents[1]
PROJECT = {
    name: f"project/{name.lower()}" for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
}
LINK = re.compile(r"(?<=\]\()(?!https?:)([^)#\s]+)")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add the files that stand outside docs/."""
    for name, place in PROJECT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    for name in ("website.css", "iframe-worker.js"):
        path = str(Path(__file__).with_name(name))
        files.append(File.generated(config, name, abs_src_path=path))
    for file in [file for file in files if file.is_documentation_page()]:
        for target in LINK.findall(_prose(file.content_string)):
            source = _source(file.src_uri, target)
            if source not in PROJECT and not source.startswith("docs/"):
                place = f"project/{source}"
                if files.get_file_from_path(place) is None:
                    files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_more: Any) -> str:
    """Rewrite links for the site, and complete a page of the reference."""
    here = page.file.src_uri
    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(lambda link: _moved(here, link[1]), part) for part in parts[::2]]
    parts[1::2] = [part.replace("```python\n>>>", "```pycon\n>>>") for part in parts[1::2]]
    markdown = "".join(parts)
    if here == "reference/shell.md":
        verbs = "".join(verb(name) for name in ROW.findall(markdown))
        return (
            ROW.sub(lambda row: f"| [`{row[1]}`](#digram-{row[1].replace(' ', '-')}) |", markdown)
            + verbs
        )
    if here.startswith("reference/"):
        return TABLE.sub(lambda table: _entries(markdown, table), markdown)
    return markdown


def _entries(markdown: str, table: re.Match[str]) -> str:
    """A table of names, and below it each of them, one level below the heading before it."""
    names = [full(name) for name in ROW.findall(table[0])]
    level = 3 if "\n## " in markdown[: table.start()] else 2
    linked = ROW.sub(lambda row: f"| [`{row[1]}`][{full(row[1])}] |", table[0])
    entry = "\n\n::: {}\n    options:\n      heading_level: {}\n"
    return linked + "".join(entry.format(name, level) for name in names) + "\n"


def full(name: str) -> str:
    """The path of a name in a table of the reference."""
    return name if name.startswith("digram.") or name == "digram" else f"digram.{name}"


def _prose(markdown: str) -> str:
    return "".join(FENCE.split(markdown)[::2])


def _source(here: str, target: str) -> str:
    """Where a link of a page leads, from the root of the repository."""
    homes = {place: name for name, place in PROJECT.items()}
    folder = PurePosixPath(homes.get(here, f"docs/{here}")).parent
    return normpath(folder / target)


def _moved(here: str, target: str) -> str:
    """The same link in the site."""
    source = _source(here, target)
    if source in PROJECT:
        place = PROJECT[source]
    elif source.startswith("docs/"):
        place = source.removeprefix("docs/")
    else:
        place = f"project/{source}"
    return relpath(place, PurePosixPath(here).parent)
