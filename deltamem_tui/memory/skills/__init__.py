"""A bank as a folder of Agent Skills, which many agents read, and back."""
