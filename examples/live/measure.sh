#!/usr/bin/env bash
# Compares lttv dump with babeltrace2 on live sessions of the LTTng that is installed: one million
# events of two CPUs, the time from an event to its printed line, and the user time for each event.
#
# usage: measure.sh LTTV
#
# Everything is in a directory of its own, with daemons and ports of its own. Prints SKIPPED and
# ends with 0 where LTTng or babeltrace2 is missing.
set -euo pipefail
dump=("$(realpath "${1:?usage: measure.sh LTTV}")" dump)
here=$(dirname "$(realpath "$0")")
events=${EVENTS:-500000} # on each of two CPUs
for tool in lttng lttng-sessiond lttng-relayd babeltrace2 gcc; do
    command -v $tool >/dev/null || { echo "SKIPPED: there is no $tool"; exit 0; }
done
work=$(mktemp -d)
export LTTNG_HOME=$work TZ=UTC LC_ALL=C.UTF-8 LTTNG_UST_REGISTER_TIMEOUT=-1
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
gcc -O2 -I"$here" -o "$work/ticks" "$here/ticks.c" -llttng-ust -ldl -lpthread 2>"$work/gcc" \
    || { echo "SKIPPED: no program can be traced here: $(head -1 "$work/gcc")"; exit 0; }
base=$((20000 + RANDOM % 20000))
control=$base data=$((base + 1)) live=$((base + 2))
lttng-relayd -C tcp://127.0.0.1:$control -D tcp://127.0.0.1:$data -L tcp://127.0.0.1:$live \
    -o "$work/relay" >"$work/relayd.log" 2>&1 &
lttng-sessiond --no-kernel >"$work/sessiond.log" 2>&1 &
for _ in $(seq 100); do lttng --no-sessiond list >/dev/null 2>&1 && break; sleep 0.1; done
url=net://127.0.0.1:$live/host/$(hostname)

# Starts a session with a live timer in µs.
session() {
    lttng -q create "$1" --live="$2" --ctrl-url=tcp://127.0.0.1:$control \
        --data-url=tcp://127.0.0.1:$data
    lttng -q enable-channel --userspace -s "$1" --subbuf-size=1M --num-subbuf=8 \
        --blocking-timeout=inf c
    lttng -q enable-event --userspace -s "$1" -c c 'lttv_live:*'
    lttng -q start "$1"
}
# Runs the program, and ends the session once its last data was sent.
record() {
    LTTNG_UST_ALLOW_BLOCKING=1 "$work/ticks" "$2" "$3"
    lttng -q stop "$1"
    sleep 2
    lttng -q destroy "$1"
}
# Prints the events that are in the directory of a session on the relay daemon, as babeltrace2 does.
on_disk() { babeltrace2 --clock-seconds --no-delta "$work"/relay/*/"$1"-* | sort; }

echo "1. $((2 * events)) events of two CPUs, timer 200 ms"
text=(--format babeltrace --clock-gmt --clock-seconds --no-delta)
session all 200000
"${dump[@]}" "$url/all" --from-start "${text[@]}" >"$work/ours" &
ours=$!
record all "$events" 0
wait $ours
on_disk all >"$work/disk"
sort "$work/ours" | cmp - "$work/disk" && echo "   the text equals babeltrace2's of the directory:" \
    "$(wc -l <"$work/ours") lines"
cut -d' ' -f1 "$work/ours" | sort -c && echo "   in order of time"

echo "2. user time for each event, without printing, side by side"
count() {
    session "$1" 200000
    shift
    "$@" &
    local viewer=$!
    record "$name" "$events" 0
    wait $viewer
}
TIMEFORMAT=%U
for round in 1 2 3; do
    for who in ours theirs; do
        name=$who$round
        case $who in
        ours) viewer=("${dump[@]}" "$url/$name" --count) ;;
        theirs) viewer=(babeltrace2 -i lttng-live "$url/$name"
            --params 'session-not-found-action="end"' -o dummy) ;;
        esac
        timed() { { time "${viewer[@]}" >/dev/null 2>&1; } 2>"$work/time"; }
        count "$name" timed
        tail -1 "$work/time" | awk -v who=$who -v n=$((2 * events)) \
            '{printf "   %s: %.0f ns\n", who, $1 * 1e9 / n}'
    done
done

echo "3. time from an event to its line, timer 100 ms"
for who in ours theirs; do
    session "late-$who" 100000
    case $who in
    ours) viewer=("${dump[@]}" "$url/late-$who" "${text[@]}") ;;
    theirs) viewer=(babeltrace2 -i lttng-live "$url/late-$who" --clock-seconds --no-delta) ;;
    esac
    "${viewer[@]}" 2>/dev/null | while IFS= read -r line; do
        echo "$EPOCHREALTIME ${line%%]*}"
    done >"$work/late" &
    # The viewer has to be attached before.
    sleep 2
    record "late-$who" 40 73000
    wait $!
    awk '{sub(/\[/, "", $2); print ($1 - $2) * 1000}' "$work/late" | sort -n \
        | awk -v who="$who" '{v[NR] = $1} END {
            printf "   %s: %d events, median %.0f ms, 90 %% %.0f ms, most %.0f ms\n",
                who, NR, v[int((NR + 1) / 2)], v[int(NR * 0.9 + 0.5)], v[NR]}'
done

echo "4. time from the start of lttv dump to the first line of a session that runs"
session soon 100000
LTTNG_UST_ALLOW_BLOCKING=1 "$work/ticks" 1000 100
sleep 1
for _ in 1 2 3 4 5; do
    begin=$EPOCHREALTIME
    coproc "${dump[@]}" "$url/soon" --from-start 2>/dev/null
    IFS= read -r _ <&"${COPROC[0]}"
    end=$EPOCHREALTIME
    kill "$COPROC_PID"
    wait "$COPROC_PID" 2>/dev/null || true
    awk -v b="$begin" -v e="$end" 'BEGIN {printf "   %.1f ms\n", (e - b) * 1000}'
done
lttng -q destroy soon
