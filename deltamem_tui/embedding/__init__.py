"""Text to unit vectors: sentence-transformers models, the packaged MiniLM, and hashing."""
