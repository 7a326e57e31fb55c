"""What a memory is worth to an agent that acts: games played with it and without it."""
