"""This module says in words what a panel of the paper's Figures 2 and 3 shows, from its result.

    rows = {s: results.final_rows(table, s) for s in (1.0, 0.1)}
    panels.headline(rows)           # "everybody loses to chance; with narrower bands TGP wins ..."
    panels.verdict("2b", rows)      # beside the paper's own sentence about the panel

Everything rests on two facts of `results.final_rows`: whether an algorithm's interval excludes 1,
the regret of uniform play, and whether the paired difference of two algorithms excludes 0.
"""

from __future__ import annotations

Rows = dict[str, tuple[float, float, float]]  # of `results.final_rows`: mean, low, high

THREE = ("TGP", "ATA", "MoMA")  # the paper's algorithms
MUCH = 0.9  # a best mean above it is called not much learning
FIGURE_2 = (
    'MoMA-GP-UCB "tends to empirically outperform the other two algorithms in both non-private '
    'and private settings"'
)
FIGURE_3 = (
    'LDP-MoMA-GP-UCB has "better or competitive performance across different scenarios" (appendix; '
    'Section 5.2 says more, that "similar observations are obtained" as from Figure 2)'
)
PANEL_2D = ', and "the high error bar in (d) is because a different $f$ is chosen for each trial"'
LITTLE = ("everybody loses to chance", "nobody clearly beats chance", "nobody learns much")
NUMBERS = "no one two three four five six seven eight nine ten".split()


# ---- Numbers in words ----------------------------------------------------------------------------


def word(count: int) -> str:
    """Write a number up to ten as a word."""
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"


def some_of(count: int, total: int) -> str:
    """Write "all three", "both", "neither", "one of the six" or "none of the six"."""
    if total == 2 and count != 1:
        return "both" if count else "neither"
    if count == total:
        return f"all {word(total)}"
    first = word(count) if count else "none"
    return f"{first} of the {word(total)}"


def listed(names: list[str]) -> str:
    """Write "TGP", "TGP and ATA" or "TGP, ATA and MoMA"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


# ---- Who leads -----------------------------------------------------------------------------------


def ranked(rows: Rows) -> list[str]:
    """Name the algorithms, the smallest mean first."""
    names = [name for name in rows if " − " not in name]
    return sorted(names, key=lambda name: rows[name][0])


def behind(rows: Rows) -> list[str]:
    """Name the algorithms that are clearly behind the first."""
    first, *others = ranked(rows)
    clear = {frozenset(pair.split(" − ")): low * high > 0 for pair, (_, low, high) in rows.items()}
    return [name for name in others if clear[frozenset((first, name))]]


def only_just(rows: Rows, one: str, other: str) -> bool:
    """Tell whether the interval of a difference ends so near to 0 that two decimals show 0."""
    pair = next(name for name in rows if set(name.split(" − ")) == {one, other})
    return min(map(abs, rows[pair][1:])) < 0.005


def leaders(rows: Rows) -> list[str]:
    """Name the first and those whom these trials do not tell from it."""
    return [name for name in ranked(rows) if name not in behind(rows)]


# ---- Sentences -----------------------------------------------------------------------------------


def clause(rows: Rows) -> str:
    """Say in a few words what one setting of a panel shows."""
    names = ranked(rows)
    ahead = leaders(rows)
    if all(rows[name][1] > 1 for name in names):
        return "everybody loses to chance"
    if not any(rows[name][2] < 1 for name in names):
        return "nobody clearly beats chance"
    if rows[names[0]][0] > MUCH:
        return "nobody learns much"
    if len(names) == 1:
        return f"{names[0]} beats chance"
    if len(ahead) == 1:
        return f"{ahead[0]} wins clearly"
    return "nobody wins clearly" if ahead == names else f"{listed(ahead)} share the lead"


def headline(settings: dict[float, Rows]) -> str:
    """Say what a panel shows, from {factor on beta: its rows}, the first setting first."""
    (scale, rows), *others = settings.items()
    first = clause(rows)
    text = first
    for other, found in others:
        kind = "narrower" if other < scale else "wider"
        more = clause(found)
        if more == first:
            text += f", with {kind} bands too"
        else:
            text += f"; with {kind} bands {_shortened(more, first)}"
    return text


def _shortened(text: str, before: str) -> str:
    """Leave out of a clause what the one before it has said: "nobody beats it", "TGP does"."""
    if "chance" in before:
        text = text.replace("chance", "it")
    wins = " wins clearly"
    again = before.endswith(wins) and text.endswith(wins) and not text.startswith("nobody")
    return text.replace(wins, " does") if again else text


def at(scale: float) -> str:
    """Name a setting as the end of a sentence does."""
    return "at order constants" if scale == 1 else f"with β\u00a0×\u00a0{scale:g}"


def means(settings: dict[float, Rows]) -> str:
    """List every algorithm's mean, setting by setting."""
    parts = []
    for scale, rows in settings.items():
        found = listed([f"{name}\u00a0{rows[name][0]:.2f}" for name in ranked(rows)])
        parts.append(f"{at(scale)}: {found}")
    return "; ".join(parts)


# ---- Beside the paper ----------------------------------------------------------------------------


def paper_text(panel: str) -> str:
    """Quote what the paper's text says of a panel; "" if it is none of the paper's."""
    if not panel:
        return ""
    text = FIGURE_2 if panel.startswith("2") else FIGURE_3
    return text + (PANEL_2D if panel == "2d" else "")


def agreement(panel: str, rows: Rows) -> str:
    """Compare one setting of a panel with the paper's sentence: "yes", "no" or "open".

    Of Figure 2 the paper says that MoMA outperforms, of Figure 3 that it is better or competitive.
    """
    ahead = leaders(rows)
    if "MoMA" not in ahead:
        return "no"
    return "yes" if panel.startswith("3") or ahead == ["MoMA"] else "open"


def place(rows: Rows) -> str:
    """Say where MoMA stands in one setting."""
    first, *others = ranked(rows)
    if first == "MoMA":
        clear = others[0] in behind(rows)
        return "MoMA is clearly first" if clear else f"MoMA is not clearly before {others[0]}"
    if "MoMA" not in behind(rows):
        return f"MoMA cannot be told apart from {first}"
    how = "only just clearly" if only_just(rows, first, "MoMA") else "clearly"
    return f"MoMA is {how} behind {first}"


def verdict(panel: str, settings: dict[float, Rows]) -> str:
    """Say whether a panel comes out as the paper says, and where MoMA stands in each setting."""
    words = {"yes": "as the paper says", "no": "not as the paper says", "open": "undecided"}
    found = {scale: words[agreement(panel, rows)] for scale, rows in settings.items()}
    if len(set(found.values())) == 1:
        head = next(iter(found.values()))
    else:
        head = ", ".join(f"{text} {at(scale)}" for scale, text in found.items())
    said = {scale: place(rows) for scale, rows in settings.items()}
    if len(said) > 1 and len(set(said.values())) == 1:
        places = f"{next(iter(said.values()))} at {'both' if len(said) == 2 else 'all'} settings"
    else:
        parts = [f"{at(scale)} {text}" for scale, text in said.items()]
        places = "; ".join([parts[0], *(part.replace("MoMA", "it", 1) for part in parts[1:])])
    return f"**{sentence(head)}** {sentence(places)}"


def beside_the_paper(panel: str, settings: dict[float, Rows]) -> str:
    """Quote the paper and say whether it comes out here; "" if it says nothing of the panel.

    The verdict is about the paper's three algorithms, so all of them must have been run.
    """
    said = paper_text(panel)
    if not said:
        return ""
    text = f"The paper says that {said}."
    if not all(set(THREE) <= set(rows) for rows in settings.values()):
        return text
    answer = verdict(panel, settings).removeprefix("**")
    about = ", for MoMA" if panel == "2d" else ""
    return f"{text} Here{about}: **{answer[0].lower()}{answer[1:]}"


def sentence(text: str) -> str:
    """Begin a text with a capital and end it with a full stop."""
    return f"{text[0].upper()}{text[1:]}."
