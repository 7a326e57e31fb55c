"""How a bank changes: batches and rewritings, the journal that makes them count, and recovery."""
