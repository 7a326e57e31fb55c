"""DeltaMem: residual trees of skills and of scene knowledge."""
