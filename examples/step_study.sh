#!/bin/sh
# What the steps of a mechanism lose of its energy, over the step: sh examples/step_study.sh [NAME_OR_FILE [DURATION]]
# `varint run --json` prints one object; VARINT and PYTHON may name other programs.
set -eu
mechanism=${1:-four_bar}
duration=${2:-10}

# the largest energy that came or went without work (J), the wall time (s), and whether all steps were resolved
row='
import json, sys
run = json.load(sys.stdin)
doubt = "" if run["unresolved"] is None else "  not resolved: " + run["unresolved"]["message"]
print("%9.2e %9.2e%s" % (run["quantities"]["energy_balance"]["largest_change"], run["wall_time"], doubt))
'
echo "    dt (s)  error (J)  wall (s)"
for dt in 0.02 0.01 0.005 0.0025; do
    # the exit code is that of the command: 2 for wrong input, 3 where a step could not be solved
    object=$("${VARINT:-varint}" run "$mechanism" --duration "$duration" --dt "$dt" --json)
    figures=$(printf '%s' "$object" | "${PYTHON:-python3}" -c "$row")
    printf '%10s %s\n' "$dt" "$figures"
done
