"""The long work that screens ask for: each job runs in a worker and ends in a message.

A job gets paths and plain values, opens the bank itself, tells its `Progress` how far it is
and stops when that says so. It knows no widget.
"""
