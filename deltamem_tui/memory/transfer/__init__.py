"""Banks that travel: exports and merges. Here is when roots are near each other, on a merge."""

from __future__ import annotations

from typing import Literal, get_args

NearPolicy = Literal["keep", "skip"]
"""The fate of a root that is near one of another bank: both stay, or it is left out with all
below."""

NEAR_POLICIES: tuple[NearPolicy, ...] = get_args(NearPolicy)

NEAR = 0.95
"""The similarity from which two roots are near, unless another is given."""
