#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Do the documents agree with each other and with the sources? Links, sections that comments cite, and the names
# of files and functions in ARCHITECTURE.md and CONTRIBUTING.md.

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "compat"))
from suite import check, run  # noqa: E402  (the path above must come first)

PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + sorted(ROOT.glob("docs/*.md"))
SOURCES = [file for folder in ("src", "include", "tests", "bench", "examples", "cmake")
           for file in sorted((ROOT / folder).rglob("*")) if file.suffix in (".h", ".cc", ".py", ".sh", ".cmake")]
FOLDERS = sorted(folder.name for folder in (ROOT / "src").iterdir() if folder.is_dir())


def prose(page):
    """The page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchor(heading):
    """As GitHub makes it of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


ANCHORS = {page: {anchor(heading) for heading in re.findall(r"(?m)^#+ (.*)$", prose(page))} for page in PAGES}


def check_none(wrong):
    check(not wrong, "\n".join(wrong))


def links_lead_to_files_and_headings():
    wrong = []
    for page in PAGES:
        for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            path, _, heading = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not link.startswith("http") and (not target.exists()
                                                or heading and heading not in ANCHORS.get(target, {heading})):
                wrong.append(f"{page.name}: {link}")
    check_none(wrong)


def every_page_is_in_the_readme():
    readme = PAGES[0].read_text()
    check_none([page.name for page in PAGES[3:] if f"(docs/{page.name})" not in readme])


def sections_that_sources_cite_exist():
    wrong = []
    for source in SOURCES:
        # Comments go on over lines, and quotes may be escaped.
        text = re.sub(r"\n\s*(//|#)\s?", " ", source.read_text(errors="replace")).replace('\\"', '"')
        for page, heading in re.findall(r'(docs/[\w-]+\.md), "([^"]+)"', text):
            if anchor(heading) not in ANCHORS.get(ROOT / page, ()):
                wrong.append(f"{source.relative_to(ROOT)}: {page}, {heading!r}")
        wrong += [f"{source.relative_to(ROOT)}: {page}" for page in re.findall(r"\bdocs/[\w-]+\.md", text)
                  if not (ROOT / page).exists()]
    check_none(wrong)


def exists(name):
    """A file or a folder of src/, with or without its suffix; `*` and `<name>` stand for anything."""
    pattern = re.sub(r"<\w+>", "*", name)
    return any(list(base.glob(pattern + suffix)) for base in (ROOT / "src", ROOT) for suffix in ("", ".h", ".cc", "_*"))


def files_in_architecture_and_contributing_exist():
    folders = "|".join(FOLDERS)
    wrong = []
    for page in PAGES[1:3]:
        text = page.read_text().partition("## For readers who know ZooKeeper")
        named = re.findall(rf"`((?:{folders})/[\w.<>*/-]+)`", text[0] + re.sub(r"(?m)^\| `[^|]*\|", "|", text[2]))
        wrong += [f"{page.name}: {name}" for name in named if not exists(name)]
    check_none(wrong)


def every_folder_is_in_the_map():
    check_none([folder for folder in FOLDERS if f"| `src/{folder}/` |" not in PAGES[1].read_text()])


def functions_in_architecture_exist():
    defined = {name for source in (ROOT / "src").rglob("*.cc")
               for name in re.findall(r"\b([A-Z]\w+::\w+)\(", source.read_text(errors="replace"))}
    named = set(re.findall(r"\b([A-Z]\w+::\w+)", PAGES[1].read_text()))
    check(len(named) > 30, "the functions on the way of a write are not named")
    check_none(sorted(named - defined))


if __name__ == "__main__":
    sys.exit(run("pages", [
        links_lead_to_files_and_headings, every_page_is_in_the_readme, sections_that_sources_cite_exist,
        files_in_architecture_and_contributing_exist, every_folder_is_in_the_map, functions_in_architecture_exist]))
