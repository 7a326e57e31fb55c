"""DeltaMem's words without a model: skills and knowledge, as a domain reads an episode."""
