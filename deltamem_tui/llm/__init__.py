"""Prompt to checked JSON through a language model. litellm is imported in this package only.

`Client` asks; `Contract` says which JSON object is wanted; `ResponseCache` remembers; `Usage`,
`Price` and `Budget` are about money. Nothing here knows of trees, nodes or episodes.
"""
