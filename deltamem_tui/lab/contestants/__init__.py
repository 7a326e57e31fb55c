"""Who competes: methods with their policies, raw memories, banks that are given."""
