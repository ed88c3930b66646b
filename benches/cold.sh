#!/bin/bash
# Compares the time to count the events of a trace that is not in the page cache with that of cat.
#
# Usage: benches/cold.sh [-n RUNS] TRACE
#   -n RUNS  number of runs (default 5)
#
# The pages of each file are dropped by `dd iflag=nocache` before each run, which works for files that
# no other program has mapped. Both read in turns; the least elapsed times are compared.
set -euo pipefail
export LC_ALL=C

runs=5
source "$(dirname "$0")/common.sh"
read_options n:runs -- "$@"
shift $((OPTIND - 1))
[[ $# == 1 ]] || usage
trace=$(realpath "$1")

cd "$(dirname "$0")/.."
cargo build --quiet --profile dist -p lttv
dump=("${CARGO_TARGET_DIR:-target}/dist/lttv" dump)

drop() { find -L "$trace" -type f -exec dd if={} iflag=nocache count=0 status=none \; ; }
read_all() { find -L "$trace" -type f -exec cat {} + >/dev/null; }
count() { "${dump[@]}" --no-cache --count --threads 1 "$trace" >/dev/null; }

# Elapsed time of a command after the pages were dropped, in milliseconds.
cold_ms() {
    local TIMEFORMAT='%3R' elapsed
    drop
    sync
    elapsed=$({ time "$@" 2>/dev/null; } 2>&1)
    echo $((10#${elapsed/./}))
}

for ((i = 0; i < runs; i++)); do
    ours+=("$(cold_ms count)")
    theirs+=("$(cold_ms read_all)")
done
ours=$(least "${ours[@]}") theirs=$(least "${theirs[@]}")
awk -v a="$ours" -v b="$theirs" 'BEGIN {
    printf "cat %d ms, count %d ms: %.0f %% of the throughput of cat\n", b, a, 100 * b / a
}'
