#!/bin/bash
# Measures the CPU time of lttv dump and of babeltrace2, and prints a table.
#
# Usage: benches/compare.sh [-n RUNS] [-t FILE] [TRACE...]
#   -n RUNS  number of runs (default 5)
#   -t FILE  also write the figures as tab-separated text
#
# Without a trace it generates two with 5 million events and 8 CPUs, one kernel-like
# and one user-space-like, below target/bench-traces (about 400 MB).
#
# Both programs run in turns on the same trace, so that other work of the machine
# disturbs both. The least times are compared, and the medians. All files are read
# once in advance, so that they are in the page cache.
set -euo pipefail
export LC_ALL=C TZ=UTC

runs=5 tsv=/dev/null
source "$(dirname "$0")/common.sh"
read_options n:runs t:tsv -- "$@"
tsv=$(realpath "$tsv")
shift $((OPTIND - 1))
traces=()
for trace; do traces+=("$(realpath "$trace")"); done

cd "$(dirname "$0")/.."
cargo build --quiet --profile dist -p lttv-benches -p lttv-traces --bins
cargo build --quiet --profile dist -p lttv
bin=${CARGO_TARGET_DIR:-target}/dist
dump=("$bin/lttv" dump)
if ((${#traces[@]} == 0)); then
    for kind in kernel ust; do traces+=("$("$bin/generate_trace" --kind $kind)"); done
fi
peer=$(command -v babeltrace2 || true)
[[ $peer ]] || echo "babeltrace2 is not installed: no ratios" >&2

repeat() {
    local times=$1 i
    shift
    for ((i = 0; i < times; i++)); do "$@"; done
}

# CPU time of a short command, in microseconds: the least of three means of 20 runs.
cpu_us() {
    local runs=() i
    for i in 1 2 3; do runs+=("$(cpu_ms repeat 20 "$@")"); done
    echo $(($(least "${runs[@]}") * 50))
}

# Peak memory of a command in kB: in total, and without file mappings (sampled, since
# the kernel does not record this peak).
memory_kb() {
    local total=0 anonymous=0 pid seen key value rest
    "$@" >/dev/null 2>&1 &
    pid=$!
    for ((seen = 1; seen; )); do
        seen=0 # a process that has ended shows no memory
        while read -r key value rest; do
            case $key in
                VmHWM:) total=$value seen=1 ;;
                RssAnon:) ((anonymous = value > anonymous ? value : anonymous)) || true ;;
            esac
        done 2>/dev/null <"/proc/$pid/status" || true
        sleep 0.005
    done
    wait $pid || true
    echo "$total $anonymous"
}

median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }

# A quotient with one decimal.
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.1f", a / b; else print "-" }'; }

# compare LABEL OURS... -- THEIRS...: one row of the table.
compare() {
    local label=$1 ours=() a=() b=() i
    shift
    while [[ $1 != -- ]]; do ours+=("$1"); shift; done
    shift
    for ((i = 0; i < runs; i++)); do
        a+=("$(cpu_ms "${ours[@]}")")
        if [[ ${1-} ]]; then b+=("$(cpu_ms "$@")"); fi
    done
    local a_least a_median b_least=- b_median=- least=- median=-
    a_least=$(least "${a[@]}") a_median=$(median "${a[@]}")
    if [[ ${1-} ]]; then
        b_least=$(least "${b[@]}") b_median=$(median "${b[@]}")
        least=$(ratio "$b_least" "$a_least") median=$(ratio "$b_median" "$a_median")
    fi
    echo "| $label | $a_least | $b_least | $least | $median |"
    printf '%s\t' "$name" "$events" "$label" "$a_least" "$a_median" "$b_least" >>"$tsv"
    echo "$b_median" >>"$tsv"
    last_ms=$a_least
}

: >"$tsv"
for trace in "${traces[@]}"; do
    name=$(basename "$trace")
    find -L "$trace" -type f -exec cat {} + >/dev/null
    events=$("${dump[@]}" --count "$trace")
    # The start of the last 1 % of the events.
    begin=$("${dump[@]}" --format babeltrace --clock-seconds --no-delta "$trace" 2>/dev/null |
        awk -v n=$((events - events / 100)) 'NR == n { print substr($1, 2, length($1) - 2) }')
    in_window=$("${dump[@]}" --count --begin "$begin" "$trace")
    echo
    echo "### $name: $events events, $(du -shL "$trace" | cut -f1)"
    echo
    echo "CPU time in ms, least of $runs runs; ratio of the least times and of the medians."
    echo
    echo "| work | lttv dump | babeltrace2 | ratio | median |"
    echo "|---|--:|--:|--:|--:|"
    dummy=(${peer:+"$peer" "$trace" -c sink.utils.dummy})
    compare "order all events, no field" "${dump[@]}" --count "$trace" -- "${dummy[@]}"
    count_ms=$last_ms
    compare "order all events, every field" "$bin/visit_fields" "$trace" -- "${dummy[@]}"
    compare "text of all events" "${dump[@]}" --format babeltrace --threads 1 "$trace" -- ${peer:+"$peer" "$trace"}
    text_ms=$last_ms
    compare "last 1 % ($in_window events), no field" "${dump[@]}" --count --begin "$begin" "$trace" \
        -- ${peer:+"${dummy[@]}" --begin "$begin"}
    echo
    us=$(cpu_us "${dump[@]}" --count --begin "$begin" "$trace")
    echo "- last 1 %: $us us, $(ratio "$((us / 10))" "$count_ms") % of the time to order all events"
    us=$(cpu_us "${dump[@]}" --format babeltrace --threads 1 --begin "$begin" "$trace")
    echo "- text of the last 1 %: $us us, $(ratio "$((us / 10))" "$text_ms") % of the time for all text"
    read -r total anonymous < <(memory_kb "${dump[@]}" --count "$trace")
    echo "- peak memory of counting: $total kB with the mapped files, $anonymous kB without"
    read -r total anonymous < <(memory_kb "${dump[@]}" --format babeltrace --threads 1 "$trace")
    echo "- peak memory of text: $total kB with the mapped files, $anonymous kB without"
    if [[ $peer ]]; then
        read -r total anonymous < <(memory_kb "${dummy[@]}")
        echo "- peak memory of babeltrace2: $total kB with its buffers of files, $anonymous kB without"
    fi
done
