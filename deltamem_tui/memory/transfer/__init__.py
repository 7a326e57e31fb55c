"""Banks that travel: exports and merges."""

NEAR = 0.95
"""The similarity from which two roots are near, unless another is given."""
