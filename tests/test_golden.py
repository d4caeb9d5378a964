"""Golden traces: short runs of every panel and of elimination's campaigns play the arms as ever.

The stored traces were made by the second version of this project, before its rooms were rebuilt. A
change that is meant to leave the algorithms alone leaves them alone. `python tests/test_golden.py`
writes the traces of the present code.
"""

import hashlib
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import mark

import ldpbo_core as core

ROOT = Path(__file__).resolve().parent.parent
STORE = Path(__file__).with_name("golden.json")
NAMES = ["TGP", "ATA", "MoMA", "GP-UCB", "TS", "MoM", "MoMA-avg"]
ROUNDS = 1500
PANELS = {
    "2a": ("matern", 1.0),
    "2b": ("light", 0.5),
    "2c": ("stock", 1.0),
    "2d": ("se", None),
    "2e": ("light", None),
    "2f": ("stock", None),
    "3a": ("se", 1.0),
    "3b": ("light", 1.0),
    "3c": ("stock", 0.5),
}
CAMPAIGNS = {
    "one bit": dict(eps=1.0, curator=core.OneBit),
    "Laplace": dict(eps=1.0),
    "bounded": dict(eps=None),
}


def problem_of(name, eps):
    """The problem of a panel, on the stand-ins that every checkout has."""
    if name in ("matern", "se"):
        return core.synthetic_problem(name, "t3" if eps is None else "uniform", seed=11)
    if name == "stock":
        return core.table_problem(core.read_table(ROOT / "data/stocks.csv").values)
    rows = np.genfromtxt(ROOT / "data/light.csv", delimiter=",", skip_header=1, dtype=str)
    test = rows[rows[:, 0] == "test", 1:].astype(float)
    train = rows[rows[:, 0] == "train", 1:].astype(float)
    return core.table_problem(test, train)


def digest(arms):
    return hashlib.sha256(np.asarray(arms, dtype=np.int32).tobytes()).hexdigest()[:16]


def panel_trace(panel, beta_scale):
    """Digest of the arms and the last regret of each algorithm in a short run of this panel."""
    name, eps = PANELS[panel]
    settings = dict(eps=eps, beta_scale=beta_scale, trace=True)
    result = core.simulate(problem_of(name, eps), NAMES, ROUNDS, trials=1, seed=5, **settings)
    arms = result.records["arms"][:, 0]
    regret = result.regret[:, 0, -1]
    return {name: [digest(arms[i]), float(regret[i])] for i, name in enumerate(NAMES)}


def campaign_trace(kind, kernel):
    """Cumulative regret of elimination after each batch, exactly."""
    problem = core.synthetic_problem(kernel, seed=3)
    campaign = core.simulate_batches(problem, 10**8, trials=2, seed=9, **CAMPAIGNS[kind])
    return campaign.regret.tolist()


def traces():
    panels, campaigns = {}, {}
    for panel, scale in itertools.product(PANELS, (1.0, 0.1)):
        panels[f"{panel} {scale}"] = panel_trace(panel, scale)
    for kind, kernel in itertools.product(CAMPAIGNS, ("se", "matern")):
        campaigns[f"{kind} {kernel}"] = campaign_trace(kind, kernel)
    return {"panels": panels, "campaigns": campaigns}


@mark.parametrize("scale", [1.0, 0.1])
@mark.parametrize("panel", PANELS)
def test_a_panel_plays_the_arms_it_always_played(panel, scale):
    stored = json.loads(STORE.read_text("utf-8"))["panels"][f"{panel} {scale}"]
    for name, (arms, regret) in panel_trace(panel, scale).items():
        assert arms == stored[name][0], name
        assert regret == pytest.approx(stored[name][1], rel=1e-12), name


@mark.parametrize("kernel", ["se", "matern"])
@mark.parametrize("kind", CAMPAIGNS)
def test_a_campaign_of_elimination_has_the_regret_it_always_had(kind, kernel):
    stored = json.loads(STORE.read_text("utf-8"))["campaigns"][f"{kind} {kernel}"]
    assert_allclose(campaign_trace(kind, kernel), stored, rtol=1e-12)


if __name__ == "__main__":
    STORE.write_text(json.dumps(traces(), indent=1) + "\n", "utf-8")
