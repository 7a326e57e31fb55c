"""What agents plug into: the MCP server over banks, and hooks."""
