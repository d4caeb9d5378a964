"""JupyterLab shows the numbers of the prose in a notebook that was run there.

{glue:text} is filled in when the book is built. In JupyterLab, with its extension for MyST, the
name of the number stands in its place; a few lines of JavaScript put the number there.
"""

import json
import os

from IPython.display import Javascript, display

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


def texts(name: str, value) -> dict[str, str]:
    """Write a value in every form that prose may ask for: {"name": ..., "name:.2f": ...}."""
    found = {name: str(value)}
    if isinstance(value, (int, float)):
        found |= {f"{name}:{form}": format(value, form) for form in FORMS}
    return found


def tell(name: str, value) -> None:
    """Let the notebook that is open in JupyterLab show a value; elsewhere do nothing."""
    if "JPY_SESSION_NAME" in os.environ:  # set by Jupyter's server, and not by papermill
        display(Javascript(SCRIPT.replace("TEXTS", json.dumps(texts(name, value)))))
