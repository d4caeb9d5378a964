"""The calculator of the page: stored numbers of users, as a small form that needs no network."""

import json
import math

import numpy as np
import pandas as pd
from IPython.display import HTML

from ldpbo import show

SHARES = {"half": 0.5, "tenth": 0.1}
PROBLEMS = {  # of the first three the number of arms can be chosen
    "se": "very smooth (SE kernel)",
    "matern": "rougher (Matérn 5/2 kernel)",
    "identity": "in no order (K = I)",
    "light": "like the paper's light sensors",
    "stocks": "like the paper's stock prices",
}
HUNDRED = 100
ARMS = {  # of data/users.csv
    ("se", "synthetic"): HUNDRED,
    ("matern", "synthetic"): HUNDRED,
    ("light", "original"): 41,
    ("light", "stand-in"): 41,
    ("stocks", "original"): 29,
    ("stocks", "stand-in"): 20,
}
LEARNERS = {"GP-UCB": "GP-UCB that seldom switches", "PE": "elimination in doubling batches"}
PAGE = """
<div class="ldpbo-calculator" style="border:1px solid var(--pst-color-border,#999);
border-radius:.5rem;padding:1rem;margin:1rem 0">
<p style="display:flex;flex-wrap:wrap;gap:.8rem 1.5rem;margin:0 0 .6rem">
<label>Users a day<br><input id="calc-day" type="number" min="0" value="50000"
style="width:8rem"></label>
<label>Privacy ε: <output id="calc-eps-text">1</output><br>
<input id="calc-eps" type="range" min="-1" max="0.477" step="0.001" value="0"
style="width:10rem" aria-label="privacy level, from 0.1 to 3"></label>
<label>Whom users trust<br><select id="calc-trust">
<option value="local">nobody: one bit each</option>
<option value="aggregator">an aggregator of sums</option></select></label>
<label>Rewards from arm to arm<br>
<select id="calc-problem" style="max-width:100%">OPTIONS</select></label>
<label>Arms<br><select id="calc-arms">ARMS<option hidden value="own"></option></select></label>
</p>
<div id="calc-answer" aria-live="polite"></div>
</div>
<script>
(() => {
  const runs = RUNS, learners = LEARNERS;
  const find = (id) => document.getElementById("calc-" + id);
  const round = (x) => {
    const power = 10 ** Math.floor(Math.log10(x));
    const steps = [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const far = (s) => Math.abs(Math.log((s * power) / x));
    return power * steps.reduce((a, b) => (far(b) < far(a) ? b : a));
  };
  const count = (x) => {
    const n = round(x);
    if (n >= 1e9) return n / 1e9 + " billion";
    if (n >= 1e6) return n / 1e6 + " million";
    return Math.round(n).toLocaleString("en");
  };
  const time = (days) => {
    if (days <= 1) return "within a day";
    if (round(days) === 1) return "about a day";
    const [size, word] = days >= 450 ? [365.25, "years"] : days >= 60 ? [7, "weeks"] : [1, "days"];
    return "about " + round(days / size).toLocaleString("en") + " " + word;
  };
  const between = (points, eps) => {  // log-log, between the levels that were run
    let i = points.findIndex((p) => p[0] >= eps - 1e-9);
    i = Math.max(i < 0 ? points.length - 1 : i, 1);
    const [a, b] = [points[i - 1], points[i]];
    const w = Math.log(eps / a[0]) / Math.log(b[0] / a[0]);
    return [Math.exp(Math.log(a[1]) * (1 - w) + Math.log(b[1]) * w), w < 0.5 ? a[2] : b[2]];
  };
  let chosen = "HUNDRED";
  const sized = (kinds) => {  // a table has the arms it has
    const box = find("arms");
    if (box.value in runs.se) chosen = box.value;
    box.disabled = !(chosen in kinds);
    if (!box.disabled) return box.value = chosen;
    box.value = "own";
    return box.selectedOptions[0].textContent = Object.keys(kinds)[0];
  };
  const answer = () => {
    const eps = Math.min(Math.max(10 ** Number(find("eps").value), 0.1), 3);
    const day = Number(find("day").value);
    find("eps-text").textContent = eps.toPrecision(2);
    const kinds = runs[find("problem").value];
    const arms = sized(kinds);
    if (!(day > 0)) {
      find("answer").textContent = "Users a day: a number above 0";
      return;
    }
    const lines = ["half", "tenth"].map((share) => {
      const points = kinds[arms][find("trust").value][share];
      const [users, who] = between(points, eps);
      return `<p style="margin:.2rem 0"><strong>A ${share}</strong> of uniform play's regret: `
        + `<strong>${time(users / day)}</strong> `
        + `(about ${count(users)} users, ${arms} arms, ${learners[who]})</p>`;
    });
    find("answer").innerHTML = lines.join("");
  };
  for (const id of ["day", "eps", "trust", "problem", "arms"])
    find(id).addEventListener("input", answer);
  answer();
})();
</script>
"""


def all_rows(table, arms):
    """Join the private rows of data/users.csv and data/arms.csv, each with its number of arms."""
    sizes = [ARMS[key] for key in zip(table["problem"], table["data"])]
    both = [table.assign(arms=sizes), arms.assign(data="synthetic")]
    return pd.concat(both).dropna(subset="eps")


def stored_runs(table, arms):
    """Return {problem: {arms: {trust: {share: [[eps, users, learner], ...]}}}}, private rows only.

    Where results on the paper's own data are stored they are used, else those on the stand-ins; of
    the two learners that with fewer users is taken.
    """
    rows = all_rows(table, arms).sort_values("users", kind="stable")
    known = set(rows["problem"][rows["data"] == "original"])
    rows = rows[~(rows["problem"].isin(known) & (rows["data"] == "stand-in"))]
    chosen = rows.drop_duplicates(["problem", "arms", "trust", "eps", "share"])
    names = {share: name for name, share in SHARES.items()}
    found = {}
    for row in chosen[chosen["share"].isin(names)].sort_values("eps").to_dict("records"):
        sizes = found.setdefault(row["problem"], {}).setdefault(str(row["arms"]), {})
        points = sizes.setdefault(row["trust"], {}).setdefault(names[row["share"]], [])
        points.append([row["eps"], row["users"], row["learner"]])
    return found


def widest(table):
    """Say of which number of data/users.csv the interval is widest, and by which factor."""
    rows = table[table["data"] != "stand-in"].dropna(subset="eps").sort_values("users")
    rows = rows[rows["share"].isin(SHARES.values())]
    rows = rows.drop_duplicates(["problem", "trust", "eps", "share"])  # the better learner's
    reach = np.maximum(rows["high"] / rows["users"], rows["users"] / rows["low"])
    row = rows.loc[reach.idxmax()]
    (words,) = (name for name, share in SHARES.items() if share == row["share"])
    return f"{math.ceil(reach.max())} for a {words} near ε = {row['eps']:g}"


def change(runs, kernel):
    """Say how the users for a tenth change from the fewest arms to the most, with one bit each at
    ε = 1; runs: those of `stored_runs`."""
    sizes = sorted(runs[kernel], key=int)
    points = [runs[kernel][size]["local"]["tenth"] for size in (sizes[0], sizes[-1])]
    first, last = (next(users for eps, users, _ in ends if eps == 1) for ends in points)
    grown = show.rounded(last / first)
    return f"grows by a factor of about {grown:g}" if grown >= 1.5 else "hardly changes"


def form(runs):
    """Return the calculator as a piece of HTML that holds its numbers, see `stored_runs`."""
    options = [f'<option value="{key}">{text}</option>' for key, text in PROBLEMS.items()]
    sizes = sorted(map(int, runs["se"]))
    arms = [f"<option{' selected' * (n == HUNDRED)}>{n}</option>" for n in sizes]
    parts = {
        "HUNDRED": str(HUNDRED),
        "OPTIONS": "".join(options),
        "ARMS": "".join(arms),
        "RUNS": json.dumps(runs),
        "LEARNERS": json.dumps(LEARNERS),
    }
    page = PAGE
    for name, text in parts.items():
        page = page.replace(name, text, 1)
    return HTML(page)
