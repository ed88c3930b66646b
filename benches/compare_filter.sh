#!/bin/bash
# Measures the CPU time of lttv dump with a filter, and of babeltrace2 with its text
# piped through grep or awk, and prints a table.
#
# Usage: benches/compare_filter.sh [-n RUNS] [TRACE]
#   -n RUNS  number of runs (default 3)
#
# Without a trace it generates a kernel-like one with 5 million events and 8 CPUs below
# target/bench-traces. Both count the events that pass; a row with different counts is
# marked. All files are read once in advance, so that they are in the page cache. CPU
# time is that of all programs of a pipe, the least of all runs.
set -euo pipefail
export LC_ALL=C TZ=UTC

runs=3
source "$(dirname "$0")/common.sh"
read_options n:runs -- "$@"
shift $((OPTIND - 1))
trace=${1:+$(realpath "$1")}

cd "$(dirname "$0")/.."
cargo build --quiet --profile dist -p lttv
bin=${CARGO_TARGET_DIR:-target}/dist
dump=("$bin/lttv" dump)
if [[ ! $trace ]]; then
    cargo build --quiet --profile dist -p lttv-benches -p lttv-traces --bins
    trace=$("$bin/generate_trace" --kind kernel)
fi
command -v babeltrace2 >/dev/null || { echo "babeltrace2 is not installed" >&2; exit 1; }
find -L "$trace" -type f -exec cat {} + >/dev/null

# CPU time of a shell command in milliseconds, and its output.
measure() {
    local TIMEFORMAT='%3U %3S' user system least= ms i
    for ((i = 0; i < runs; i++)); do
        read -r user system < <({ time bash -c "$1" >"$printed" 2>/dev/null; } 2>&1)
        ms=$((10#${user/./} + 10#${system/./}))
        if [[ ! $least ]] || ((ms < least)); then least=$ms; fi
    done
    echo "$least"
}

printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
text="babeltrace2 --clock-seconds --no-delta $(printf %q "$trace")"

echo "| events that pass | filter | lttv, ms | babeltrace2 and grep or awk, ms | ratio |"
echo "|--:|---|--:|--:|--:|"
row() {
    local filter=$1 other=$2 ours theirs passed expected
    ours=$(measure "${dump[*]} --count --filter $(printf %q "$filter") $(printf %q "$trace")")
    passed=$(<"$printed")
    theirs=$(measure "$text | $other")
    expected=$(<"$printed")
    [[ $passed == "$expected" ]] || passed="$passed, not $expected"
    echo "| $passed | \`${filter//|/\\|}\` | $ours | $theirs |" \
        "$(awk -v a="$theirs" -v b="$ours" 'BEGIN { printf "%.0f", a / (b > 0 ? b : 1) }') |"
}

row 'event.name == sched_switch' "grep -c ' sched_switch: '"
row 'event.name == syscall_entry_openat' "grep -c ' syscall_entry_openat: '"
row 'tracefile.cpu in (2, 5)' "grep -cE '[{] cpu_id = (2|5) [}]'"
row 'event.fields.sched_switch.next_tid > 1000 && prev_tid != 1042 && next_prio < 1000' \
    "awk '/ sched_switch: / { split(\$0, n, /next_tid = /); split(\$0, p, /prev_tid = /)
        split(\$0, r, /next_prio = /)
        if (n[2] + 0 > 1000 && p[2] + 0 != 1042 && r[2] + 0 < 1000) count++ }
        END { print count + 0 }'"
