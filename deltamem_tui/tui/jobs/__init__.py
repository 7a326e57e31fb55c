"""The long work that screens ask for: what should be agreed to returns a plan first."""
