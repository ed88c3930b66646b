#!/bin/bash
# Compares reading with the floor: a C program that knows the schema of the kernel-like trace.
#
# Usage: benches/floor.sh [-n RUNS]
#   -n RUNS  number of runs (default 7)
#
# The C program is ../shared/tools/floor/floor.c beside the repository; without it, nothing is
# measured. All programs run in turns on the same trace of 5 million events, which is generated below
# target/bench-traces, and the least CPU times (user and system) are compared. Events and sums have to
# be the same.
set -euo pipefail
export LC_ALL=C

runs=7
source "$(dirname "$0")/common.sh"
read_options n:runs -- "$@"

cd "$(dirname "$0")/.."
source=../shared/tools/floor/floor.c
if [[ ! -e $source ]]; then
    echo "skipped: there is no $source" >&2
    exit 0
fi
cargo build --quiet --profile dist -p lttv-benches -p lttv-traces --bins
cargo build --quiet --profile dist -p lttv
bin=${CARGO_TARGET_DIR:-target}/dist
trace=$("$bin/generate_trace" --kind kernel)
floor=$bin/floor
cc -O3 -march=native "$source" -o "$floor"
files=("$trace"/channel0_*)
cat "${files[@]}" >/dev/null

# The sum of integers that a command prints, in whatever form.
integers() { "$@" | sed -E 's/.*(I=|integers: )([0-9]+).*/\2/'; }

expected=$(integers "$floor" s "${files[@]}")
found=$(integers "$bin/visit_fields" "$trace")
if [[ $found != "$expected" ]]; then
    echo "visit_fields: the sum is $found, not $expected" >&2
    exit 1
fi

declare -A times
measure() { times[$1]+=" $(cpu_ms "${@:2}")"; }
for ((i = 0; i < runs; i++)); do
    measure m "$floor" m "${files[@]}"
    measure count "$bin/lttv" dump --no-cache --count --threads 1 "$trace"
    measure x "$floor" x "${files[@]}"
    measure visit "$bin/visit_fields" "$trace"
    measure s "$floor" s "${files[@]}"
done

row() {
    local ours theirs
    ours=$(least ${times[$2]}) theirs=$(least ${times[$3]})
    echo "| $1 | $ours | $theirs | $(awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.2f", a / b }') |"
}
echo "CPU time in ms for 5 million events, least of $runs runs in turns"
echo
echo "| work | ours | floor | ratio |"
echo "|---|--:|--:|--:|"
row "ordered count" count m
row "every field in order, by a visitor" visit x
