"""The table of contents lists the pages, notebooks/ holds them, notebooks/params/ sizes them.

Page P of book/pages comes from notebooks/P.ipynb, or from the notebook named by the part before the
first "_" (panel_2a from panel.ipynb), with notebooks/params/P.yml and, for a quick build, its entry
in params/quick.yml.
"""

import ast
import fnmatch
import json

import yaml

from store import ROOT
from terminal import Stop

FOLDER = "book/pages/"  # of the executed pages, in the table of contents


def read(path, parse):
    """Parse one of our own source files."""
    try:
        return parse(path.read_text("utf-8"))
    except (ValueError, yaml.YAMLError) as error:
        raise Stop(f"{path.relative_to(ROOT)} cannot be read: {error}") from error


def entries(node):
    """Yield (file, title or None) for each page below a node of the table of contents."""
    if isinstance(node, dict):
        name = node.get("file") or node.get("root")
        if name:
            yield name, node.get("title")
        node = list(node.values())
    if isinstance(node, list):
        for value in node:
            yield from entries(value)


def contents():
    """Read the table of contents -> {file: title or None}, in reading order."""
    return dict(entries(read(ROOT / "_toc.yml", yaml.safe_load)))


def load(quick):
    """Read all pages that come from notebooks -> {name: Page}, in reading order."""
    found = {}
    for file, title in contents().items():
        if file.startswith(FOLDER):
            name = file.removeprefix(FOLDER)
            found[name] = Page(name, title, quick)
    return found


class Page:
    """A page is one notebook with one set of parameters."""

    def __init__(self, name, title, quick):
        self.name = name
        self.title = title
        self.stem = name if (ROOT / f"notebooks/{name}.ipynb").exists() else name.split("_")[0]
        self.source = ROOT / f"notebooks/{self.stem}.ipynb"
        if not self.source.exists():
            raise Stop(
                f"_toc.yml lists book/pages/{name}, but there is no notebooks/{name}.ipynb"
                f" or notebooks/{self.stem}.ipynb"
            )
        self.notebook = read(self.source, json.loads)
        self.needs = self.notebook["metadata"].get("needs", [])
        self.parameters = self.read_parameters(quick)
        self.check_parameters()

    def read_parameters(self, quick):
        """Read the values that differ from those in the notebook."""
        path = ROOT / f"notebooks/params/{self.name}.yml"
        values = read(path, yaml.safe_load) or {} if path.exists() else {}
        if quick:
            small = read(ROOT / "notebooks/params/quick.yml", yaml.safe_load) or {}
            values |= small.get(self.stem, {}) | small.get(self.name, {})
        return values

    def check_parameters(self):
        """Refuse a parameter that the notebook does not have; papermill would only warn."""
        cells = [c for c in self.notebook["cells"] if "parameters" in c["metadata"].get("tags", ())]
        if len(cells) != 1:
            raise Stop(
                f"notebooks/{self.stem}.ipynb has {len(cells)} cells tagged `parameters`;"
                " it needs exactly one"
            )
        statements = ast.parse("".join(cells[0]["source"])).body
        known = [t.id for s in statements if isinstance(s, ast.Assign) for t in s.targets]
        unknown = sorted(set(self.parameters) - set(known))
        if unknown:
            raise Stop(
                f"Page {self.name}: unknown parameter {', '.join(unknown)} for"
                f" notebooks/{self.stem}.ipynb, cell `{cells[0]['id']}`.\n"
                f"It has: {', '.join(known)}."
                f" Look in notebooks/params/{self.name}.yml and quick.yml."
            )

    @property
    def heading(self):
        """Return the title in the table of contents, or else the notebook's own."""
        first_line = "".join(self.notebook["cells"][0]["source"]).splitlines()[0]
        return self.title or first_line.lstrip("# ")

    @property
    def starts_early(self):
        """Tell whether the page takes long, and so should not be the last."""
        sized = (ROOT / f"notebooks/params/{self.name}.yml").exists()
        return sized or bool(self.needs) or self.notebook["metadata"].get("long", False)

    def code(self):
        """Yield the Python of each code cell, without the lines that are IPython's."""
        for cell in self.notebook["cells"]:
            if cell["cell_type"] == "code":
                lines = "".join(cell["source"]).splitlines()
                yield "\n".join(line for line in lines if not line.startswith(("%", "!")))

    def needed(self, pages):
        """Name the pages that must have run before this one."""
        return [n for n in pages if any(fnmatch.fnmatch(n, pattern) for pattern in self.needs)]
