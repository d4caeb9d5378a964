"""An executed notebook becomes a page: without what differs between runs, with all it must have.

Tables travel as tables: an output of type application/vnd.ldpbo.table+json stays in the executed
page (DIR/src/book/pages/P.ipynb), where other pages read it; readers do not see it. In the cell of
a figure it is part of the figure's own output, beside text/html.
"""

import ast
import html
import json

from ldpbo import formats
from terminal import Stop

SHOWN = {"text/html", "text/plain", "text/markdown", "text/latex", "image/svg+xml", "image/png"}


def dump(notebook):
    """Write a notebook as bytes, the same for the same content."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def tidy(page, notebook, digest):
    """Turn the executed notebook of `page` into the bytes of the page."""
    notebook["metadata"] = page.notebook["metadata"] | {
        "ldpbo": {"digest": digest, "parameters": page.parameters}
    }
    show_parameters_once(notebook["cells"], page.parameters)
    for cell in notebook["cells"]:
        for key in ("papermill", "execution"):
            cell["metadata"].pop(key, None)
        for output in cell.get("outputs", ()):
            if output["output_type"] != "execute_result":
                output.pop("execution_count", None)
            check_output(f"notebooks/{page.stem}.ipynb", cell, output.get("data", {}))
    data = dump(notebook)
    if page.name == page.stem:
        return data
    # Several pages come from one notebook: labels stay unique in the book.
    label = f"fig-{page.name.replace('_', '-')}-"
    return data.replace(f"fig-{page.stem}-".encode(), label.encode())


def show_parameters_once(cells, parameters):
    """Remove the cell that papermill injected and write its values into the notebook's own."""
    tagged = {tag: cell for cell in cells for tag in cell["metadata"].get("tags", ())}
    if "injected-parameters" in tagged:
        cells.remove(tagged["injected-parameters"])
        first = tagged["parameters"]
        first["source"] = with_values("".join(first["source"]), parameters)


def with_values(source, parameters):
    """Write the values of `parameters` into the text of a parameters cell; comments stay."""
    lines = source.encode().splitlines()  # ast counts bytes
    for statement in reversed(ast.parse(source).body):
        name = statement.targets[0].id
        if name not in parameters:
            continue
        value = statement.value
        used = parameters[name]
        text = json.dumps(used, ensure_ascii=False) if isinstance(used, str) else repr(used)
        first = value.lineno - 1
        last = value.end_lineno - 1
        comment = lines[last][value.end_col_offset :].lstrip()
        column = len(lines[last]) - len(comment)
        code = lines[first][: value.col_offset] + text.encode() + b"  "
        lines[first : last + 1] = [(code.ljust(column) + comment).rstrip()]
    return b"\n".join(lines).decode()


def check_output(source, cell, content):
    """Refuse what the renderer would drop in silence, and give a figure its alt text."""
    where = f"{source}, cell `{cell['id']}`"
    unknown = sorted(set(content) - SHOWN - {formats.TABLE, formats.GLUED})
    if unknown:
        raise Stop(f"{where}: an output of type {', '.join(unknown)} cannot be shown in the book")
    text = "".join(content.get("text/html", ""))
    if "ldpbo-figure" not in text:
        return
    options = cell["metadata"].get("mystnb", {})
    figure = options.get("figure", {})
    alt = options.get("image", {}).get("alt")
    if not (alt and figure.get("caption") and figure.get("name")) or len(cell["outputs"]) != 1:
        raise Stop(
            f"{where}: a figure needs a caption, a name and alt text in the cell's metadata"
            " (mystnb.figure.caption, .name, mystnb.image.alt) and must be the cell's only output"
        )
    content["text/html"] = text.replace('alt=""', f'alt="{html.escape(alt)}"', 1)
