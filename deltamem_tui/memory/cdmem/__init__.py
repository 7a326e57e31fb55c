"""CDMem: short-term memories filed by task and environment, and insights made from them."""
