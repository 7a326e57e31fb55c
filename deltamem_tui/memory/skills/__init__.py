"""A bank as Agent Skills, the folders that many agents read, and back into a bank.

```
DIR/
  deltamem.json                      the bank: name, domain, embedder, parameters
  <skill>/SKILL.md                   a task root, with links to what differs and to warnings
  <skill>/references/<node>.md       one residual below it
  knowledge/<name>.md                an env root with all residuals below it
```

`section` is one node as markdown, both ways; `writing` and `reading` are the two directions.
"""
