"""Banks on a journey: packed into one archive, copied, taken in from strangers."""
