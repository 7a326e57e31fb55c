"""What the method adds when banks travel: merging by meaning, secrets, plain forms."""
