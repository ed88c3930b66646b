#!/bin/bash
# Measures the CPU time of lttv on recordings of ftrace and perf beside trace-cmd and perf, and prints a table
# for each.
#
# Usage: benches/compare_tracers.sh [-n RUNS] [-f FEATURES] FILE...
#   -n RUNS      number of runs (default 5)
#   -f FEATURES  features of lttv, such as zstd
#
# A file is a trace.dat or a perf.data. All programs run in turns, and the least times are compared, in ns an
# event. libtracecmd is measured by a program that counts the events, if its headers are installed.
set -euo pipefail
export LC_ALL=C TZ=UTC

runs=5 features=tui
source "$(dirname "$0")/common.sh"
read_options n:runs f:features -- "$@"
shift $((OPTIND - 1))
(($# > 0)) || usage
files=()
for file; do files+=("$(realpath "$file")"); done

cd "$(dirname "$0")/.."
cargo build --quiet --profile dist -p lttv-benches --bins
cargo build --quiet --profile dist -p lttv --features "$features"
bin=${CARGO_TARGET_DIR:-target}/dist
dump=("$bin/lttv" dump --no-cache)

# Builds the program that counts by libtracecmd, and prints its path; nothing without its headers.
tracecmd_count() {
    local flags
    flags=$(pkg-config --cflags --libs libtracecmd 2>/dev/null) || return 0
    cc -O2 -xc - -o "$bin/tracecmd_count" $flags <<'SOURCE'
#include <stdio.h>
#include <trace-cmd.h>
static long events;
static int count(struct tracecmd_input *input, struct tep_record *record, int cpu, void *data) {
    events++;
    return 0;
}
int main(int argc, char **argv) {
    struct tracecmd_input *input = tracecmd_open(argv[1], 0);
    if (!input || tracecmd_iterate_events(input, NULL, 0, count, NULL)) return 1;
    printf("%ld\n", events);
    return 0;
}
SOURCE
    echo "$bin/tracecmd_count"
}
counter=$(tracecmd_count)

# row LABEL OURS... -- THEIRS...: one row of the table.
row() {
    local label=$1 ours=() a=() b=() i
    shift
    while [[ $1 != -- ]]; do ours+=("$1"); shift; done
    shift
    for ((i = 0; i < runs; i++)); do
        a+=("$(cpu_ms "${ours[@]}")")
        if (($# > 0)); then b+=("$(cpu_ms "$@")"); fi
    done
    awk -v label="$label" -v a="$(least "${a[@]}")" -v b="$(least "${b[@]:-0}")" -v n="$events" 'BEGIN {
        printf "| %s | %.1f | ", label, a * 1e6 / n
        if (b > 0) printf "%.0f | %.1f |\n", b * 1e6 / n, b / (a > 0 ? a : 1); else print "| |"
    }'
}

for file in "${files[@]}"; do
    cat "$file" >/dev/null
    events=$("${dump[@]}" --count "$file" 2>/dev/null)
    # The start of the last 1 % of the events.
    begin=$("${dump[@]}" --format babeltrace --clock-seconds --no-delta "$file" 2>/dev/null |
        awk -v n=$((events - events / 100)) 'NR == n { print substr($1, 2, length($1) - 2) }')
    echo
    echo "### $(basename "$file"): $events events, $(du -h "$file" | cut -f1)"
    echo
    echo "CPU time in ns an event, least of $runs runs, one thread."
    echo
    echo "| work | lttv | peer | ratio |"
    echo "|---|--:|--:|--:|"
    case $(head -c 8 "$file") in
        PERFILE2) count=(perf report --stats -i "$file") text=(perf script -i "$file") ;;
        *) count=(${counter:+"$counter" "$file"}) text=(trace-cmd report -i "$file") ;;
    esac
    row "order all events, no field" "${dump[@]}" --count --threads 1 "$file" -- "${count[@]}"
    row "order all events, every field" "$bin/visit_fields" "$file" -- "${count[@]}"
    row "text of all events" "${dump[@]}" --format babeltrace --threads 1 "$file" -- "${text[@]}"
    row "open, and the last 1 %" "${dump[@]}" --count --threads 1 --begin "$begin" "$file" --
done
