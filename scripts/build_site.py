"""Builds the documentation as a site: the README, every page of `docs/`, and whatever the pages link to.

`python scripts/build_site.py [--to FOLDER]` (default: `build/site`). The sources are laid out in a scratch folder as
they lie in the repository, so that a link that works there works in the site; a link to a folder gets a page that
lists it.

Promise: a link or an anchor that leads nowhere is a failure, exit code 1; nothing is fetched, at building or at
reading: the theme's files are in the site. Nothing in the repository is changed but the target folder, which is
replaced.
Policy: the theme, and the order of pages (`SECTIONS`; a page that it does not name stands under "More").
"""

from __future__ import annotations

import argparse
import logging
import re
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)\s#]+)((?:#[^)]*)?)\)")
TOP = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "schema/PROFILE.md", "schema/CHANGELOG.md")
SECTIONS = {
    "Start": ("tutorial", "traces-tutorial", "cli", "settings"),
    "Measure": ("measuring", "adapters", "run-directory", "import", "derived", "judging", "rules"),
    "Compare": ("comparing", "statistics"),
    "The contract": ("format", "upgrade", "upgrading", "convert", "errors"),
    "For consumers": ("compatibility", "contracts", "conformance", "testing"),
}
CHECKS = {"omitted_files": "ignore", "absolute_links": "warn", "unrecognized_links": "warn", "anchors": "warn"}


def stage(folder: Path) -> None:
    """Lay out every page and, in turn, everything that they link to."""
    waiting = [ROOT / name for name in TOP] + sorted((ROOT / "docs").rglob("*.md"))
    seen: set[Path] = set()
    while waiting:
        source = waiting.pop()
        if source in seen or not source.is_relative_to(ROOT) or not source.exists():
            continue
        seen.add(source)
        target = folder / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            waiting += _folder(source, target)
        elif source.suffix == ".md":
            text = source.read_text("utf-8")
            target.write_text(LINK.sub(partial(_link, source), text), "utf-8")
            prose = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))
            waiting += [(source.parent / link).resolve() for link, _ in LINK.findall(prose) if "://" not in link]
        else:
            shutil.copyfile(source, target)


def _folder(source: Path, target: Path) -> list[Path]:
    """What is in a folder that a page links to; one without a README gets a page that lists it."""
    target.mkdir(exist_ok=True)
    inside = [each for each in sorted(source.iterdir()) if not each.name.startswith((".", "__"))]
    if not (source / "README.md").exists():
        links = [f"- [{each.name}]({each.name}{_page_of(each)})" for each in inside]
        (target / "index.md").write_text("\n".join([f"# {source.relative_to(ROOT)}", "", *links, ""]), "utf-8")
    return inside


def _page_of(place: Path) -> str:
    """What a link to a folder must go on with."""
    if not place.is_dir():
        return ""
    return "/README.md" if (place / "README.md").exists() else "/index.md"


def _link(source: Path, match: re.Match[str]) -> str:
    if "://" in match[1]:
        return match[0]
    return f"]({match[1].rstrip('/')}{_page_of((source.parent / match[1]).resolve())}{match[2]})"


def navigation() -> list[Any]:
    """The pages by section, each once."""
    named = {page for pages in SECTIONS.values() for page in pages}
    there = {path.stem for path in (ROOT / "docs").glob("*.md")}
    found: list[Any] = ["README.md"]
    found += [{title: [f"docs/{page}.md" for page in pages if page in there]} for title, pages in SECTIONS.items()]
    references = sorted(path.name for path in (ROOT / "docs" / "reference").glob("*.md") if path.name != "README.md")
    found.append({"Reference": ["docs/reference/README.md", *(f"docs/reference/{name}" for name in references)]})
    found.append({"More": [*(f"docs/{page}.md" for page in sorted(there - named)), *TOP[1:]]})
    return found


class _Complaints(logging.Handler):
    """What mkdocs warns of: each is a failure."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def build(target: Path) -> list[str]:
    """Build the site into a folder; returns what is wrong with the pages."""
    from mkdocs.commands.build import build as build_pages
    from mkdocs.config import load_config

    complaints = _Complaints()
    logger = logging.getLogger("mkdocs")
    logger.addHandler(complaints)
    logger.propagate = False
    with tempfile.TemporaryDirectory() as scratch:
        sources, settings = Path(scratch) / "sources", Path(scratch) / "mkdocs.yml"
        stage(sources)
        settings.write_text("site_name: evh\n", "utf-8")
        shutil.rmtree(target, ignore_errors=True)
        config = load_config(
            str(settings),
            docs_dir=str(sources),
            site_dir=str(target),
            theme={"name": "mkdocs", "highlightjs": False},
            plugins=["search"],
            nav=navigation(),
            markdown_extensions=["tables", "fenced_code", {"toc": {"slugify": _anchor}}],
            validation=CHECKS,
        )
        build_pages(config)
    return complaints.lines


def _anchor(heading: str, separator: str) -> str:
    """The anchor of a heading, as forges make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", separator)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/build_site.py")
    parser.add_argument(
        "--to", default="build/site", metavar="FOLDER", help="where the site goes (default: build/site)"
    )
    target = (ROOT / parser.parse_args(arguments).to).resolve()
    complaints = build(target)
    if complaints:
        print("the site has links that lead nowhere:", *complaints, sep="\n  ", file=sys.stderr)
        return 1
    print(f"the documentation is in {target}: open index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
