"""DeltaMem: residual experience for LLM agents, in plain files and a terminal."""
