"""Views of a bank for people: numbers, history, filtered nodes."""
