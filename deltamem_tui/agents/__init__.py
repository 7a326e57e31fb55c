"""The MCP server over banks, and the hooks of coding agents."""
