"""Banks as Agent Skills, and back."""
