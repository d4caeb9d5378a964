"""The lower bounds and the audit have this one public name; their code is in ldpbo/."""

from ldpbo.audit import Audit, audit, subweibull_radius, total_epsilon
from ldpbo.bounds import Bound, bump, gain_ceiling, lower_bound
from ldpbo.lower import lower_bound_design

__all__ = [
    "Audit",
    "Bound",
    "audit",
    "bump",
    "gain_ceiling",
    "lower_bound",
    "lower_bound_design",
    "subweibull_radius",
    "total_epsilon",
]
