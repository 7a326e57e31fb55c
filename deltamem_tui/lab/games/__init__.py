"""Games: what memory must know of each to read its episodes, as plug-ins for a bank's domain."""
