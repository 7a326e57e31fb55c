"""MemP: procedures of whole episodes, found by what they are about, repaired where they fail."""
