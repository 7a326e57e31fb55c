"""The browser. textual is imported in this package only."""
