"""Pages, and the programs that build them, agree on how a notebook carries values and tables."""

import ast

RECORD = "application/papermill.record/"
GLUED = f"{RECORD}text/plain"  # an output that readers do not see: a value for the prose
TABLE = "application/vnd.ldpbo.table+json"  # {"name": figure, "columns": {column: values}}
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def times_power(mantissa: str, exponent: str) -> str:
    """Write a number as prose does: "1.4·10⁻⁷" for 1.4 and -07, "10⁸" for 1 and 8."""
    power = "10" + str(int(exponent)).translate(SUPERSCRIPT)
    return power if mantissa == "1" else f"{mantissa}·{power}"


def glued(notebook: dict) -> dict:
    """Find what an executed notebook has glued: {name: value}."""
    found = {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if GLUED in output.get("data", {}):
                value = "".join(output["data"][GLUED])
                found[output["metadata"]["scrapbook"]["name"]] = ast.literal_eval(value)
    return found
