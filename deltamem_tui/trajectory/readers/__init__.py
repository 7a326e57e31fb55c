"""Readers: any agent's log in, trajectories out. One module per format."""
