#!/bin/sh
# Real episodes become a bank: imported, learnt, and looked at. No model is asked.
set -eu
banks=demo
task="Your task is to melt lead. First, focus on the substance. Then, take actions that will cause it to change its state of matter."
scene="This room is called the kitchen. In it, you see: the agent, a counter, a fridge, a sink, a stove, a thermometer"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
run() { say deltamem "$@"; deltamem --banks "$banks" "$@"; }

rm -rf "$banks"
mkdir "$banks"
run init lab --embedder minilm --domain scienceworld
run import lab docs/sample/scienceworld.jsonl.gz
run extract lab --extractor rules
run info lab
run tree lab --tree task --depth 2 --limit 24
match=$(deltamem --banks "$banks" recall lab "$task" --json |
    python -c 'import json, sys; print(json.load(sys.stdin)["data"]["task"]["match"])')
run chain lab "$match"
run recall lab "$task" --env "$scene"

printf '\nThat was %s/lab. It is plain files: look into it, or open the browser with\n\n' "$banks"
printf '  .venv/bin/deltamem --banks %s browse lab\n' "$banks"
