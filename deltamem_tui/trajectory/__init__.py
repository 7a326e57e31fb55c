"""What an agent did: the normal form of an episode, and the readers that bring logs into it."""
