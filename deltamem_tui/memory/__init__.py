"""The method: recall, extraction, learning, consolidation, calibration and the agent's context."""
