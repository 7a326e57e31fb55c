"""The form of a report that every face shows."""
