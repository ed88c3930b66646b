#!/usr/bin/env python3
"""Measures what a cluster costs on one machine, and simulates a larger one with these costs.

    scale.py measure PROGRAM TRACE          a table of elapsed and CPU time by number of slices
    scale.py simulate [--executors N] …     where the time of a query goes, and what each part costs

PROGRAM is the executable lttv-cluster. Needs Linux, and nothing but Python.
"""

import argparse
import heapq
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")

QUERIES = {
    "count by name": "select name, count(*) from events group by name",
    "switches by next_comm": "select next_comm, count(*) from sched_switch group by next_comm",
    "gaps by CPU": "select max(gap) from (select ts - lag(ts) over (partition by cpu order by ts)"
    " as gap from sched_switch) as gaps",
}


def cpu_of(process):
    """Returns the CPU time of a process in seconds."""
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [of.getsockname()[1] for of in sockets]
    for of in sockets:
        of.close()
    return ports


def start(program, executors, folder):
    """Starts a scheduler and executors, and waits until they know each other."""
    ports = free_ports(1 + 2 * executors)
    at = f"127.0.0.1:{ports[0]}"
    # Each process ends with its input, and that with this script.
    spawn = lambda *args: subprocess.Popen(
        [program, *args, "--with-parent"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    processes = [spawn("scheduler", "--listen", at, "--executors", str(executors))]
    for number in range(executors):
        port, task_port = ports[1 + 2 * number : 3 + 2 * number]
        processes.append(
            spawn(
                "executor", "--scheduler", at, "--threads", "1", "--memory", "20",
                "--port", str(port), "--task-port", str(task_port),
                "--work-dir", os.path.join(folder, str(number)),
            )
        )
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", ports[0]), timeout=5) as stream:
                stream.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                if b" 200 " in stream.recv(64):
                    return at, processes
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit("the cluster does not start")


def measure(args):
    with tempfile.TemporaryDirectory() as folder:
        at, processes = start(args.program, args.executors, folder)
        print("| query | slices | elapsed s | scheduler CPU s | executors CPU s | read |")
        print("|---|---|---|---|---|---|")
        for name, query in QUERIES.items():
            for slices in args.slices:
                # The first run opens the trace, and the median of the others is told.
                runs = []
                for _ in range(1 + args.runs):
                    before = [cpu_of(of) for of in processes]
                    begin = time.monotonic()
                    done = subprocess.run(
                        [args.program, "query", "--scheduler", at, "--slices", str(slices),
                         "--counts", "-f", "csv", query, args.trace],
                        capture_output=True, text=True,
                    )
                    elapsed = time.monotonic() - begin
                    if done.returncode:
                        sys.exit(done.stderr)
                    cpu = [cpu_of(of) - was for of, was in zip(processes, before)]
                    runs.append((elapsed, cpu[0], sum(cpu[1:]), done.stderr.split()[1]))
                elapsed, scheduler, executors, read = sorted(runs[1:])[len(runs[1:]) // 2]
                print(f"| {name} | {slices} | {elapsed:.2f} | {scheduler:.2f} | {executors:.2f} | {read} |", flush=True)
        for of in processes:
            of.kill()


class Simulation:
    """A query of two stages: slices are read and grouped, and groups are put together.

    The scheduler handles one message at a time. A thread of an executor reads one slice at a time,
    as fast as it decodes, or as the shared storage delivers if that is slower.
    """

    def __init__(self, args):
        self.args = args
        self.random = random.Random(args.seed)
        self.scheduler_free = 0.0
        self.scheduler_busy = 0.0

    def serve(self, now, cost):
        """Lets the scheduler handle a message, and returns when it has."""
        begin = max(now, self.scheduler_free)
        self.scheduler_free = begin + cost
        self.scheduler_busy += cost
        return self.scheduler_free

    def stage(self, begin, tasks, duration):
        """Runs the tasks of a stage; returns the end, and the time that threads were busy."""
        args = self.args
        threads = [(begin, executor) for executor in range(args.executors) for _ in range(args.threads)]
        heapq.heapify(threads)
        speed = [self.random.uniform(1 - args.spread, 1 + args.spread) for _ in range(args.executors)]
        end, busy = begin, 0.0
        waiting = list(range(tasks))
        running = []
        while waiting or running:
            if waiting and threads and (not running or threads[0][0] <= running[0][0]):
                free, executor = heapq.heappop(threads)
                waiting.pop()
                launched = self.serve(free, args.launch)
                seconds = duration() / speed[executor]
                heapq.heappush(running, (launched + args.latency + seconds, seconds, executor))
                continue
            done, seconds, executor = heapq.heappop(running)
            known = self.serve(done + args.latency, args.finish)
            busy += seconds
            end = max(end, known)
            heapq.heappush(threads, (known, executor))
        return end, busy

    def run(self):
        args = self.args
        threads = args.executors * args.threads
        slices = args.slices or threads * args.slices_per_thread
        bytes_of_slice = args.terabytes * 1e12 / slices
        per_thread = args.storage * 1e9 / threads
        rate = min(args.rate * 1e6, per_thread, args.network * 1e9 / args.threads)
        plan = args.plan + slices * args.plan_slice
        read_end, read_busy = self.stage(
            plan, slices, lambda: args.open + bytes_of_slice / rate * self.random.uniform(0.8, 1.25)
        )
        # Each group fetches its part of the result of every slice.
        group = lambda: slices * args.fetch + slices * args.groups / args.partitions * 64 / (args.network * 1e9)
        end, _ = self.stage(read_end, args.partitions, group)
        # What one executor had read is read again by all others.
        lost = -(-slices // args.executors)
        rounds = -(-lost // max(1, threads - args.threads))
        repeat = args.dead_after + rounds * bytes_of_slice / rate
        return {
            "slices": f"{slices} of {bytes_of_slice / 1e9:.2f} GB",
            "rate of a thread": f"{rate / 1e6:.0f} MB/s, bound by "
            + ("decoding" if rate == args.rate * 1e6 else "storage or network"),
            "planning": f"{plan:.2f} s",
            "reading": f"{read_end - plan:.1f} s, threads busy {100 * read_busy / threads / (read_end - plan):.0f} %",
            "grouping": f"{end - read_end:.2f} s",
            "whole query": f"{end:.1f} s",
            "scheduler": f"{self.scheduler_busy:.2f} s busy, {100 * self.scheduler_busy / end:.2f} % of the time; "
            f"it could serve {slices / (slices * (args.launch + args.finish)):.0f} tasks/s",
            "a dead executor": f"at most {repeat:.0f} s more: it is noticed, and its slices are read again",
        }


def simulate(args):
    for name, value in Simulation(args).run().items():
        print(f"{name + ':':18} {value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    of = commands.add_parser("measure", help="measure a cluster of processes on this machine")
    of.add_argument("program")
    of.add_argument("trace")
    of.add_argument("--executors", type=int, default=2)
    of.add_argument("--slices", type=int, nargs="+", default=[2, 8, 32, 128, 512])
    of.add_argument("--runs", type=int, default=3)
    of.set_defaults(run=measure)
    of = commands.add_parser("simulate", help="simulate a larger cluster with measured costs")
    number = lambda name, value, what: of.add_argument(
        name, type=type(value), default=value, help=f"{what} (default {value})"
    )
    number("--executors", 100, "executors")
    number("--threads", 16, "threads of each")
    number("--terabytes", 10.0, "size of the traces")
    number("--slices", 0, "slices; 0 for --slices-per-thread of each thread")
    number("--slices-per-thread", 4, "slices of each thread")
    number("--rate", 630.0, "MB/s that a thread reads and counts by name")
    number("--storage", 40.0, "GB/s that the shared storage delivers")
    number("--network", 3.0, "GB/s of each machine's network")
    number("--groups", 300.0, "groups of each slice")
    number("--partitions", 1600, "partitions of the second stage")
    number("--open", 0.005, "seconds to open the traces for a slice")
    number("--plan", 0.02, "seconds to plan")
    number("--plan-slice", 0.00002, "seconds of planning for each slice")
    number("--launch", 0.002, "seconds of the scheduler to launch a task")
    number("--finish", 0.002, "seconds of the scheduler to note the end of a task")
    number("--latency", 0.001, "seconds of a message")
    number("--fetch", 0.0001, "seconds to fetch one result of another executor")
    number("--spread", 0.1, "differences between the speeds of machines, as a part")
    number("--dead-after", 20.0, "seconds until a dead executor is noticed")
    number("--seed", 1, "seed of random numbers")
    of.set_defaults(run=simulate)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
