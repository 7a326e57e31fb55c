"""The command line: one module a command. typer and rich are imported in this package only."""
