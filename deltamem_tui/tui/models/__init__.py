"""The browser's contents as plain data: no terminal is needed to make or to test it."""
