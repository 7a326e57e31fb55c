"""Views of a bank for people: numbers, growth, history, filtered nodes."""
