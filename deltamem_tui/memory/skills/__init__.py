"""A bank as Agent Skills, the folders that many agents read, and back into a bank.

```
DIR/
  deltamem.json                      the bank, and a list of all that was written for it
  <skill>/SKILL.md                   a task root, with links to what differs and to warnings
  <skill>/references/<node>.md       one residual below it
  knowledge/<name>.md                an env root with all residuals below it
```

`section` is one node as markdown, both ways, made of `blocks`; `listing` is `deltamem.json`.
`writing` goes out, and `placing` puts what it wrote where an earlier export lies. `reading`
comes back, from the files that `finding` lets in.
"""
