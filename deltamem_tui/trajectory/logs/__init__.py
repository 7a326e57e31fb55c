"""A log as it lies on disk or comes through a pipe: found, opened, and cut into records."""
