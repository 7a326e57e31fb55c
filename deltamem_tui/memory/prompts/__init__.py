"""The prompts that models get: found, checked, filled in and exported."""
