#!/usr/bin/env python3
"""Simulates analyses in slices on many threads, with the measured costs of their stages.

    benches/simulate_threads.py                    the table of docs/performance.md
    benches/simulate_threads.py --cores 2,16 --costs 31,20,0,9,0,2 --one 53

The costs are those of an event in each stage, in any unit: recorded by one thread, resolved in order,
computed on any thread, added on any thread (to parts), added in order, and spent before and after all
slices by one thread. `--one` is the cost of an event without slices. Threads choose their work as
`lttv-context/src/parallel/stages.rs` does: one thread records slices as long as few are under way, and all
threads do otherwise what is most urgent.
"""

import argparse
import heapq

# Instructions for each event of the recording kbig-ctf1.8, by callgrind: the sums of all functions that
# the stages call. Elapsed times have the same proportions within a few per cent.
COSTS = {
    "text": (1900, (199, 0, 1749, 0, 1, 2)),
    "statistics": (791, (345, 356, 0, 158, 0, 20)),
    "history": (1598, (327, 815, 0, 0, 391, 54)),
}
# One thread finds the order of events.
RECORDED_IN_ORDER = {"text"}
SLICES = 300


def simulate(cores, costs, divided_recording=False):
    """Returns the elapsed time of SLICES slices."""
    record, resolve, compute, add_part, add, rest = costs
    limit = 2 * cores + 2
    recorded, resolved, computed = [], [], []
    started = taken = added = next_add = 0
    resolving = adding = recording = False
    resolved_up_to = 0
    now, free, running = 0.0, list(range(cores)), []
    is_parallel = compute + add_part > 0
    while added < SLICES:
        progress = True
        while progress and free:
            progress = False
            for core in sorted(free):
                can_record = (divided_recording or core == 0) and started < SLICES
                if can_record and started - added < limit and (divided_recording or not recording):
                    recording = True
                    heapq.heappush(running, (now + record, core, "record", started))
                    started += 1
                elif not resolving and resolved_up_to in recorded:
                    resolving = True
                    recorded.remove(resolved_up_to)
                    heapq.heappush(running, (now + resolve, core, "resolve", resolved_up_to))
                elif not adding and add > 0 and next_add in computed:
                    adding = True
                    computed.remove(next_add)
                    heapq.heappush(running, (now + add, core, "add", next_add))
                elif resolved and is_parallel:
                    number = resolved.pop(0)
                    heapq.heappush(running, (now + compute + add_part, core, "compute", number))
                else:
                    continue
                free.remove(core)
                progress = True
                break
        now, core, work, number = heapq.heappop(running)
        free.append(core)
        if work == "record":
            recording = False
            recorded.append(number)
        elif work == "resolve":
            resolving, resolved_up_to = False, number + 1
            if is_parallel:
                resolved.append(number)
            else:
                computed.append(number)
        elif work == "compute":
            if add > 0:
                computed.append(number)
            else:
                added += 1
        else:
            adding, next_add = False, number + 1
            added += 1
    return now + rest * SLICES


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", default="1,2,4,8,32,128")
    parser.add_argument("--costs", help="six costs of an event, separated by commas")
    parser.add_argument("--one", type=float, help="the cost of an event without slices")
    args = parser.parse_args()
    works = COSTS
    if args.costs:
        costs = tuple(float(cost) for cost in args.costs.split(","))
        works = {"costs": (args.one or sum(costs), costs)}
    cores = [int(number) for number in args.cores.split(",")]
    print("| work | " + " | ".join(f"{number} core{'s' * (number > 1)}" for number in cores) + " | most |")
    print("|---|" + "--:|" * (len(cores) + 1))
    for name, (one, costs) in works.items():
        for divided in (False,) if name in RECORDED_IN_ORDER else (False, True):
            times = [one * SLICES if number == 1 else simulate(number, costs, divided) for number in cores]
            in_order = [costs[1], costs[4]] + ([] if divided else [costs[0]])
            label = f"{name}, recorded by all threads" if divided else name
            speeds = " | ".join(f"{one * SLICES / time:.2f}" for time in times)
            print(f"| {label} | {speeds} | {one / (max(in_order) + costs[5]):.2f} |")


if __name__ == "__main__":
    main()
