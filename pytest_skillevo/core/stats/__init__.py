"""The exact tests and intervals under the decision rules; standard library only (spec/statistics.md 5.2 to 5.4)."""

from .bounded import chance_of_loss
from .distributions import beta_cdf, t_power, t_quantile, t_upper_tail
from .lattice import Lattice, Number, exact, level, on_lattice, rounded
from .net_loss import chance_of_net_loss
from .permutation import PermutationTest, sign_flip, wins_to_settle, within_tasks
from .planning import (
    clean_cases_needed,
    closed_form_tasks,
    detectable_gain,
    e_value,
    holm,
    pass_at_k,
    pass_hat_k,
    tasks_needed,
)
from .proportions import clopper_pearson, newcombe_paired, t_lower_limit, upper_bound, wilson
from .ratio import RatioTest, geometric_ratio
from .search import least
from .subsets import Interval, subset_mean_interval

__all__ = [
    "Interval",
    "Lattice",
    "Number",
    "PermutationTest",
    "RatioTest",
    "beta_cdf",
    "chance_of_loss",
    "chance_of_net_loss",
    "clean_cases_needed",
    "clopper_pearson",
    "closed_form_tasks",
    "detectable_gain",
    "e_value",
    "exact",
    "geometric_ratio",
    "holm",
    "least",
    "level",
    "newcombe_paired",
    "on_lattice",
    "pass_at_k",
    "pass_hat_k",
    "rounded",
    "sign_flip",
    "subset_mean_interval",
    "t_lower_limit",
    "t_power",
    "t_quantile",
    "t_upper_tail",
    "tasks_needed",
    "upper_bound",
    "wilson",
    "wins_to_settle",
    "within_tasks",
]
