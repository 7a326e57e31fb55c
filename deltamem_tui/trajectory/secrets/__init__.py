"""Keys, tokens and passwords: found in texts, and removed before anything stores or shows them."""
