"""A notebook that was run outside of the book shows the numbers of its prose.

{glue:text} is filled in when the book is built. In JupyterLab, with its extension for MyST, the
name of the number stands in its place; a few lines of JavaScript put the number there. Into a
notebook that papermill has run they are written by

    python -m ldpbo.lab out.ipynb
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from IPython.display import Javascript, display

from ldpbo import formats

ROLE = re.compile(r"\{glue:text\}`([^`]+)`")
FORMS = [f".{digits}{kind}" for kind in "fge" for digits in range(7)] + [",", ",.0f"]
SCRIPT = """
const keys = window.ldpboKeys ??= new WeakMap();
const texts = window.ldpboTexts ??= {};
Object.assign(texts, TEXTS);
const fill = () => {
  for (const cell of document.querySelectorAll(".jp-MarkdownCell")) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const node = walk.currentNode;
      const key = keys.get(node) ?? node.nodeValue;
      if (!Object.hasOwn(texts, key) || node.parentElement.closest(".cm-editor")) continue;
      keys.set(node, key);
      if (node.nodeValue !== texts[key]) node.nodeValue = texts[key];
    }
  }
};
if (!window.ldpboWatch) {  // cells are drawn when they come into sight
  window.ldpboWatch = new MutationObserver(fill);
  window.ldpboWatch.observe(document.body, { childList: true, subtree: true });
}
fill();
"""


def texts(name: str, value: Any) -> dict[str, str]:
    """Write a value in every form that prose may ask for: {"name": ..., "name:.2f": ...}."""
    found = {name: str(value)}
    if isinstance(value, (int, float)):
        found |= {f"{name}:{form}": format(value, form) for form in FORMS}
    return found


def tell(name: str, value: Any) -> None:
    """Let the notebook that is open in JupyterLab show a value; elsewhere do nothing."""
    if "JPY_SESSION_NAME" in os.environ:  # set by Jupyter's server, and not by papermill
        display(Javascript(SCRIPT.replace("TEXTS", json.dumps(texts(name, value)))))


def fill(notebook: dict) -> None:
    """Put the numbers that an executed notebook holds into its prose; what is unknown stays."""
    known: dict[str, str] = {}
    for name, value in formats.glued(notebook).items():
        known |= texts(name, value)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            prose = "".join(cell["source"])
            filled = ROLE.sub(lambda found: known.get(found[1], found[0]), prose)
            cell["source"] = filled.splitlines(keepends=True)


def main() -> None:
    for name in sys.argv[1:]:
        path = Path(name)
        notebook = json.loads(path.read_text("utf-8"))
        fill(notebook)
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
