"""What a bank holds at a commit, and how it changes: the journal, batches, rewritings, recovery."""
