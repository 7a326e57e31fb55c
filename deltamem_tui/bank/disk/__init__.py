"""Bytes on disk: files that change by single effects, arrays that grow, and archives of both."""
