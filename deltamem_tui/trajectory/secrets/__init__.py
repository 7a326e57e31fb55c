"""Keys, tokens and passwords: found in texts, and removed before anything stores or shows them.

`tokens` knows those of a form of their own, `values` those that a name or a place gives away.
`redaction` looks for both in one pass over a text and puts marks in their places.
"""
