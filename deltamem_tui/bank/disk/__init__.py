"""Bytes on disk: files that change by single effects, arrays that grow, and a shelf of both."""
