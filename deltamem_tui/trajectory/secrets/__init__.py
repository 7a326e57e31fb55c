"""Keys, tokens and passwords: found in episodes, and taken out before anybody keeps or reads them.

`redaction` takes them out of an episode. It looks only where a `glance` says that one could
be, by the rules for what is known by itself (`tokens`, `detectors`, of `files` whole ones) and
for what is known by its place only (`places`: in `settings`, `commands`, `web` addresses and
`prose`, of other `languages` too, and what people have `made_up`; the weak ones, which may be
any word, in `variables`, `calls` and `logins`), which `search` applies where their hints stand.
`mentions` finds again what was found once. What a rule is, and what a placeholder looks like,
say the `rules`.
"""
