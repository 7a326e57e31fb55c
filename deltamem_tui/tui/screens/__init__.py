"""One module for each screen. A screen owns its widgets and decides what they show."""
