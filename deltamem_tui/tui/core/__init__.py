"""Common parts of the browser: keys, notes, the long work, the open bank."""
