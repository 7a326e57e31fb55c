"""The long work that screens ask for. A job runs in a thread and knows no widget.

It gets paths and plain values, opens the bank itself, reports to its `Progress` how far it is
and stops when that says so. One whose end should be agreed to first returns a plan, which shows
what would be done and carries the doing with it; nothing is written before.
"""
