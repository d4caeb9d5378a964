"""The figures that an executed page carries are found here, with captions and tables of numbers."""

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path

SVG = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')
CSV = re.compile(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"')


@dataclass
class Figure:
    """A figure of an executed page has a picture, and mostly a table of its numbers."""

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
