"""The lab: contests of memories, over games that agents play and over logs."""
