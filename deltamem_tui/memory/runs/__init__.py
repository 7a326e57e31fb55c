"""Learning from many episodes with a model: side by side, in order, and counted beforehand."""
