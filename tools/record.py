"""Two files say what the built book holds and where it comes from.

codecheck.yml follows version 1.0 of the CODECHECK configuration file: it lists what somebody who
checks the computation should obtain again, the nine panels of the paper first. Nobody has done so
yet, and the file says so. ro-crate-metadata.json follows RO-Crate 1.1: it describes the folder of
the website. The figures and tables that pages carry inside them are written as files of their own,
so that both can name them. All comes from the built pages and CITATION.cff; no clock is read.
"""

import re
from pathlib import Path

import yaml

from crate import ARCHIVE, address, crate, full_name, names
from figures import Figure, figures
from ldpbo import provenance
from store import ROOT
from wording import prose

CODECHECK = "https://codecheck.org.uk/spec/config/1.0/"
UNCHECKED = """\
# Nobody has checked this computation yet. Whoever does adds codechecker, report, summary,
# check_time and certificate.
"""


def write(site: Path, source: Path, contents: dict[str, str | None]) -> None:
    """Write the two files and the figures they name into a rendered website."""
    titles = {file: title or heading(page(source, file)) for file, title in contents.items()}
    shown = [figure for file in titles for figure in figures(file, page(source, file))]
    (site / "figures").mkdir()
    for figure in shown:
        for name, data in figure.files().items():
            (site / name).write_bytes(data)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    (site / "codecheck.yml").write_text(codecheck(citation, shown), "utf-8")
    (site / "ro-crate-metadata.json").write_text(crate(citation, titles, shown), "utf-8")


def page(source: Path, file: str) -> Path:
    """Find the staged source of a page."""
    notebook = source / f"{file}.ipynb"
    return notebook if notebook.exists() else source / f"{file}.md"


def heading(path: Path) -> str:
    """Read the title of a page."""
    return re.search(r"^# (.+)$", "\n".join(prose(path)), re.M)[1]


def codecheck(citation: dict, shown: list[Figure]) -> str:
    """Write codecheck.yml."""
    paper = citation["preferred-citation"]
    panels_first = sorted(shown, key=lambda figure: not figure.source())
    content = {
        "version": CODECHECK,
        "paper": {
            "title": paper["title"],
            "authors": [{"name": full_name(author)} for author in paper["authors"]],
            "reference": address(paper),
        },
        "source": (
            f"An implementation of the paper by {names(citation)}, independent of its authors."
            f" {ARCHIVE} has modules, notebooks, data and tests; `make book` in it makes every"
            " file of the manifest."
        ),
        "manifest": [
            {"file": name, "comment": figure.says(Path(name).suffix)}
            for figure in panels_first
            for name in figure.files()
        ],
        "ldpbo": {
            "version": citation["version"],
            "code": provenance.code_hash(),
            "license": citation["license"],
        },
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return f"%YAML 1.1\n---\n{UNCHECKED}{text}"
