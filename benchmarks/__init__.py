"""Speed and quality: each benchmark prints one JSON line with ratios measured in one run."""
