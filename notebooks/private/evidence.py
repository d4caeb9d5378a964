"""The table and the numbers of the section "Other people's code", from data/packages.csv."""

import math
import re

from ldpbo import audit, panels, show
from notebooks.private import packages
from notebooks.private.leaks_inside import LeaksInside

NAMES = {"opendp": "OpenDP"}
HEAD = ["package", "mechanism", "ε is at least", "told by", "caught"]
SAFE = ("diffprivlib-snapping", "opendp-laplace")
LOW_BITS = ("lowest bit", "trailing zeros")


def in_words(event):
    """Say the event of an audit as prose does: "lowest bit of the report's distance from −2"."""
    distance = r"report 1 - \((-?[\d.]+)\)"
    event = re.sub(distance, lambda m: f"the report's distance from {float(m[1]):g}", event)
    event = event.replace("report 2 - report 1", "difference of the two reports")
    return event.replace("report 1", "the report").replace("-", "−")


def shown(bound, seeded):
    """Round a lower bound down; to a tenth where the noise cannot be seeded."""
    return show.at_least(bound, 2 if seeded else 1)


def mechanisms(table):
    """Group the stored rows by package, release and mechanism, in the order of the adapters."""
    names = list(packages.CURATORS)
    shelf = [one.package for one in packages.CURATORS.values()]
    place = lambda key: (shelf.index(key[0]), key[1], names.index(key[2]))
    groups = dict(list(table.groupby(["package", "version", "name"])))
    return {key: groups[key] for key in sorted(groups, key=place)}


def rows(table, seed):
    """Make the rows of the page's table: the audit with this seed, and how many seeds caught it."""
    found = []
    for (package, version, _), audits in mechanisms(table).items():
        one = audits[audits.seed == seed].iloc[0]
        name = f"{NAMES.get(package, package)} {version}"
        clue = "its lowest bits" if one.event.startswith(LOW_BITS) else "its value"
        caught = f"{audits.flagged.sum()} of {len(audits)}"
        found.append([name, one.mechanism, shown(one.eps_low, one.seeded), clue, caught])
    return found


def numbers(table, seed):
    """Collect the numbers of the prose."""
    one = table[table.seed == seed].set_index(["name", "version"])
    least = table.groupby(["name", "version"]).eps_low.min()
    laplace = one.loc["diffprivlib-laplace", "0.6.6"]
    flagged = table.groupby(["name", "version"]).flagged.max().groupby("name")
    caught = flagged.max() > 0
    safe = table[table.name.isin(SAFE)]
    return {
        "items": packages.ITEMS,
        "count": len(caught),
        "caught": int(caught.sum()),
        "repaired": panels.word(int((caught & (flagged.last() == 0)).sum())),
        "safe": f"{safe.flagged.sum()} of {len(safe)}",
        "games": f"{table.games.max():,}",
        "games-unseeded": f"{table.games.min():,}",
        "confidence": f"{100 * table.confidence.min():.2f}",
        "exact-sue": unary_loss(1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(0.5))),
        "exact-oue": unary_loss(0.5, 1 / (math.e + 1)),
        "least-sue": shown(least["pure-ldp-sue", "1.1.2"], True),
        "least-oue": shown(least["pure-ldp-oue", "1.1.2"], True),
        "laplace": shown(least["diffprivlib-laplace", "0.6.6"], True),
        "right": f"{laplace.right:,}",
        "guesses": f"{laplace.guesses:,}",
    }


def unary_loss(p, q):
    """Compute what pure-ldp 1.1.2 loses: the user's bit is 1 with probability p + (1 - p) q."""
    p += (1 - p) * q
    return math.log(p / q) + math.log((1 - q) / (1 - p))


def pair(eps, B, R, games, seed):
    """Audit the curator that leaks inside its range, at the ends and without a pair."""
    curator = LeaksInside(eps, B, R)
    ends = audit.audit(curator, B + R, -B - R, games, rng=seed)
    found = audit.audit(curator, n=games, rng=seed)
    rewards = len(audit.PLACES) + audit.CHANCE
    return {
        "candidates": rewards,
        "chance": audit.CHANCE,
        "pairs": math.comb(rewards, 2),
        "inside-ends": show.at_least(ends.eps_low, 2),
        "inside-found": show.at_least(found.eps_low, 2),
        "inside-pair": " and ".join(f"{y:g}".replace("-", "−") for y in sorted(found.pair)),
    }
