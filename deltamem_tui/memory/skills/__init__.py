"""A bank as Agent Skills, the folders that many agents read, and back into a bank.

```
DIR/
  deltamem.json                      the bank, and a list of all that was written for it
  <skill>/SKILL.md                   a root that says how: with links to what differs and to
                                     warnings, or with all that belongs to it
  <skill>/references/<node>.md       one residual below it
  knowledge/<name>.md                any other root with all below it
```

`form` says for each method which texts there are, and which of its collections are skills.
`section` is one node as markdown, both ways, made of `blocks`; `listing` is `deltamem.json`.
`writing` goes out, and `placing` puts what it wrote where an earlier export lies. `reading`
comes back, from the files that `finding` lets in.
"""
