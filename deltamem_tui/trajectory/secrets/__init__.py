"""Keys, tokens and passwords: found in texts, and removed before anything stores or shows them.

`redaction` finds and removes them. It looks only at texts that the `prefilter` lets through, with
`rules` of two kinds: about tokens known by their own form (`tokens`), and about values known by
where they stand: by a name (`assignments`), on a command line (`commands`), in addresses and
headers (`web`), in known `files`, in sentences (`prose`). `values` says which of those values are
secrets and which placeholders. `occurrences` finds again what was found once.
"""
