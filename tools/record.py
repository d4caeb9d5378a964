"""Two files say what the built book holds and where it comes from, for people and for programs.

codecheck.yml follows version 1.0 of the CODECHECK configuration file: it lists what somebody who
checks the computation should obtain again, the nine panels of the paper first. Nobody has done so
yet, and the file says so. ro-crate-metadata.json follows RO-Crate 1.1: it describes the folder of
the website. The figures and tables that pages carry inside them are written as files of their own,
so that both can name them. All comes from the built pages and CITATION.cff; no clock is read.
"""

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

import shelf
from ldpbo import provenance
from store import ROOT

CODECHECK = "https://codecheck.org.uk/spec/config/1.0/"
RO_CRATE = "https://w3id.org/ro/crate/1.1"
SVG = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')
CSV = re.compile(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"')
FORMATS = {
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".csv": "text/csv",
    ".json": "application/json",
    ".yml": "application/yaml",
    ".zip": "application/zip",
}
ARCHIVE = "_static/ldpbo.zip"
OTHERS = {  # files that are neither pages nor figures
    "_static/claims.json": "The claims of the paper, with verdict, evidence and test",
    "codecheck.yml": "What somebody who checks the computation should obtain again",
}
UNCHECKED = """\
# Nobody has checked this computation yet. Whoever does adds codechecker, report, summary,
# check_time and certificate.
"""


@dataclass
class Figure:
    """A figure of an executed page, with the table of its numbers where it has one."""

    page: str  # as in the table of contents
    name: str
    caption: str  # its first sentence
    parts: dict[str, bytes]  # {".svg": picture, ".csv": table}

    def files(self) -> dict[str, bytes]:
        """Name the files of the figure, relative to the website -> {name: content}."""
        return {f"figures/{self.name}{kind}": data for kind, data in self.parts.items()}

    def says(self, kind: str) -> str:
        """Say what the picture shows, or that the table has its numbers."""
        if kind == ".csv":
            return f"The numbers in {self.name}.svg"
        return self.source() + self.caption

    def source(self) -> str:
        """Name the panel of the paper that the page runs again, if it does."""
        panel = re.search(r"/panel_(\w+)$", self.page)
        return f"Panel {panel[1]} of the paper. " if panel else ""


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


# ---- What the pages show -------------------------------------------------------------------------


def page(source: Path, file: str) -> Path:
    """Find the staged source of a page."""
    notebook = source / f"{file}.ipynb"
    return notebook if notebook.exists() else source / f"{file}.md"


def heading(path: Path) -> str:
    """Read the title of a page."""
    return re.search(r"^# (.+)$", "\n".join(shelf.prose(path)), re.M)[1]


def figures(file: str, path: Path) -> list[Figure]:
    """Find the figures of a page, in its order."""
    if path.suffix == ".md":
        return []
    found = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        options = cell["metadata"].get("mystnb", {}).get("figure")
        for output in cell.get("outputs", ()):
            html = "".join(output.get("data", {}).get("text/html", ""))
            if options and "ldpbo-figure" in html:
                caption = re.split(r"(?<=\.)\s", options["caption"])[0].rstrip(".")
                found.append(Figure(file, options["name"], caption, embedded(html)))
    return found


def embedded(html: str) -> dict[str, bytes]:
    """Decode the picture, and the table where there is one, that a figure carries."""
    found = {".svg": SVG.search(html), ".csv": CSV.search(html)}
    return {kind: base64.b64decode(match[1]) for kind, match in found.items() if match}


# ---- The two files -------------------------------------------------------------------------------


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


def crate(citation: dict, titles: dict[str, str], shown: list[Figure]) -> str:
    """Write ro-crate-metadata.json."""
    files = [file_entity(f"{file}.html", title) for file, title in titles.items()]
    for figure in shown:
        inside = {"isPartOf": reference(f"{figure.page}.html")}
        files += [
            file_entity(name, figure.says(Path(name).suffix)) | inside for name in figure.files()
        ]
    files += [file_entity(name, title) for name, title in OTHERS.items()]
    files.append(archive_entity(citation))
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": reference(RO_CRATE),
        "about": reference("./"),
    }
    graph = [descriptor, root_entity(citation, files), *context_entities(citation), *files]
    content = {"@context": f"{RO_CRATE}/context", "@graph": graph}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def root_entity(citation: dict, files: list[dict]) -> dict:
    """Describe the website as a whole."""
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": citation["title"],
        "description": citation["abstract"],
        "version": citation["version"],
        "datePublished": str(citation["date-released"]),
        "keywords": ", ".join(citation["keywords"]),
        "author": reference("#authors"),
        "license": reference(licence(citation)),
        "isBasedOn": reference(address(citation["preferred-citation"])),
        "hasPart": [reference(file["@id"]) for file in files],
    }


def context_entities(citation: dict) -> list[dict]:
    """Describe what the files refer to: authors, licence, paper and its authors, the code."""
    paper = citation["preferred-citation"]
    people = [full_name(author) for author in paper["authors"]]
    article = {
        "@id": address(paper),
        "@type": "ScholarlyArticle",
        "name": paper["title"],
        "author": [reference(person_id(name)) for name in people],
        "datePublished": str(paper["year"]),
        "identifier": [paper["doi"], *(other["value"] for other in paper["identifiers"])],
    }
    code = {
        "@id": "#code",
        "@type": "PropertyValue",
        "name": f"first digits of the sha256 of {', '.join(provenance.COMPUTES)}",
        "value": provenance.code_hash(),
    }
    return [
        {"@id": "#authors", "@type": "Organization", "name": names(citation)},
        {"@id": licence(citation), "@type": "CreativeWork", "name": citation["license"]},
        article,
        *({"@id": person_id(name), "@type": "Person", "name": name} for name in people),
        code,
    ]


def file_entity(name: str, title: str) -> dict:
    """Describe one file of the website."""
    kind = FORMATS[Path(name).suffix]
    return {"@id": name, "@type": "File", "name": title, "encodingFormat": kind}


def archive_entity(citation: dict) -> dict:
    """Describe the archive from which the book can be made again."""
    entity = file_entity(ARCHIVE, "Modules, notebooks, data and tests; `make book` makes the book")
    entity["@type"] = ["File", "SoftwareSourceCode"]
    return entity | {"version": citation["version"], "identifier": reference("#code")}


def reference(name: str) -> dict[str, str]:
    """Refer to another entity of the crate."""
    return {"@id": name}


def address(paper: dict) -> str:
    """Write the DOI of a paper as an address."""
    return f"https://doi.org/{paper['doi']}"


def licence(citation: dict) -> str:
    """Name the licence as SPDX does."""
    return f"https://spdx.org/licenses/{citation['license']}"


def names(citation: dict) -> str:
    """List the authors of the companion."""
    return ", ".join(author["name"] for author in citation["authors"])


def full_name(author: dict[str, str]) -> str:
    """Write the name of a person, given names first."""
    return f"{author['given-names']} {author['family-names']}"


def person_id(name: str) -> str:
    """Make an identifier of a person whom only this crate names."""
    return "#" + name.lower().replace(" ", "-")
