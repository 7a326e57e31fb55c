"""Episodes in their normal form, and the readers that bring logs into it."""
