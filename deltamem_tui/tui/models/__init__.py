"""What the browser shows, as plain data: no terminal is needed to make or to test it."""
