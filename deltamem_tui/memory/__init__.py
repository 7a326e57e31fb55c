"""The method: recall, extraction, learning, consolidation and the agent's context."""
