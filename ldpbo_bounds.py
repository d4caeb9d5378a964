"""Programs that know the bounds and the audit by this name find them here; they live in ldpbo/."""

from ldpbo.audit import Audit, audit, subweibull_radius, total_epsilon
from ldpbo.bounds import Bound, bump, gain_ceiling, lower_bound

__all__ = [
    "Audit",
    "Bound",
    "audit",
    "bump",
    "gain_ceiling",
    "lower_bound",
    "subweibull_radius",
    "total_epsilon",
]
