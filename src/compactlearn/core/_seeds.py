"""Random numbers from any seed that a user may give."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def seeded(random_state: Any) -> np.random.RandomState:
    """Return a generator from any accepted seed; scikit-learn's check takes no Generator."""
    if isinstance(random_state, np.random.Generator):
        return check_random_state(int(random_state.integers(2**31 - 1)))
    return check_random_state(random_state)
