"""ro-crate-metadata.json describes the folder of the website, as RO-Crate 1.1 says."""

import json
from pathlib import Path

from figures import Figure
from ldpbo import provenance

RO_CRATE = "https://w3id.org/ro/crate/1.1"
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
    modules = ", ".join(provenance.COMPUTES)
    code = {
        "@id": "#code",
        "@type": "PropertyValue",
        "name": f"first digits of the sha256 of the syntax trees of {modules}",
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
