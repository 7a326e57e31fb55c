"""What a memory is worth to an agent, measured in the two real simulators.

A fixed agent without a model carries out the text it is given, in games that no episode of the
memory comes from. So a row says how good the *text* is, not how clever a model is.

`python -m benchmarks.yardstick alfworld nothing raw bank --embedder hashing minilm` prints one
JSON line a context. The simulators are the extras `alfworld` and `scienceworld`, and ScienceWorld
needs a Java; the games and the episodes lie in `../shared/data`, or where the options say.
"""
