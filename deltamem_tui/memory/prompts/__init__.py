"""The prompts that models get: found, checked, filled in, previewed and handed out."""
