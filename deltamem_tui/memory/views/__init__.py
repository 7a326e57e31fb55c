"""What people ask to see of a bank: numbers, growth, history, filtered nodes."""
