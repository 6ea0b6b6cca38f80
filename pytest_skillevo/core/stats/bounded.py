"""A lower limit for the mean of bounded differences that no distribution can fool: Clopper-Pearson for graded scores.

Gaffke's test ("Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
2005): the unknown distribution puts random weights (uniform spacings) on the losses seen and on the greatest loss there
can be. For losses of 0 and 1 the limit is that of Clopper and Pearson; its level is proven for that case, and no
distribution is known that breaks it (`benchmarks/no_worse.py` looks for one).
"""

from __future__ import annotations

import cmath
import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

#: Nodes of the integral and where it ends, in units of the spread; the integrand falls like t^-(cases/2) beyond.
_NODES: Final = 240
_END: Final = 12.0


def chance_of_loss(differences: Sequence[float], margin: float) -> float:
    """The chance (p) of results this good if the mean of differences in [-1, 1] were -margin or lower; 1 for none.

    At most alpha exactly when the lower limit of the mean at level alpha is at least -margin.
    """
    if not differences:
        return 1.0
    # P(sum of w_i * a_i >= 0) with exponential w: the weighted mean loss, scaled to [0, 1], reaches the margin's.
    excess = Counter((1 - d) / 2 - (1 + margin) / 2 for d in differences)
    excess[1 - (1 + margin) / 2] += 1
    if min(excess) >= 0:
        return 1.0
    spread = math.sqrt(sum(count * a * a for a, count in excess.items()))
    step = _END / _NODES
    total = 0.0
    for node in range(_NODES):
        t = (node + 0.5) * step
        # The characteristic function of the sum, by its logarithm so that many cases do not overflow.
        log = -sum(count * cmath.log(complex(1, -a / spread * t)) for a, count in excess.items())
        total += cmath.exp(log).imag / t
    return min(1.0, max(0.0, 0.5 + total * step / math.pi))
