#!/bin/sh
# Real episodes become a bank: imported, learnt, and looked at. No model is asked.
set -eu
banks=demo
task="put a hot egg in the fridge."
scene="You are in the middle of a room. Looking quickly around you, you see a microwave 1, a fridge 1, a countertop 1, a diningtable 1."

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
run() { say deltamem "$@"; deltamem --banks "$banks" "$@"; }

rm -rf "$banks"
mkdir "$banks"
run init lab --domain alfworld
run import lab docs/sample/alfworld.jsonl.gz
run extract lab --extractor rules
run bank info lab
run node tree lab --tree task --depth 2 --limit 24
match=$(deltamem --banks "$banks" recall lab "$task" --json |
    sed -n '/"match":/{s/.*"match": "\([^"]*\)".*/\1/p;q;}')
run node chain lab "$match"
run recall lab "$task" --env "$scene"

printf '\nThat was %s/lab. It is plain files: look into it, or open the browser with\n\n' "$banks"
printf '  .venv/bin/deltamem --banks %s browse lab\n' "$banks"
