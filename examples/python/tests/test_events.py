"""Events: all values, selection, objects that are kept."""

from __future__ import annotations

import collections
import itertools
import json
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import warnings

import pytest

import lttv
from compare import difference

#: The number of events of each trace that are compared.
MOST_EVENTS = None if os.environ.get("LTTV_TEST_ALL") else 500


def dumped(program: str, path: pathlib.Path) -> list[str]:
    command = [program, "--no-config", "dump", "--format", "json", "--utc", str(path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
    ) as running:
        assert running.stdout is not None
        lines = list(itertools.islice(running.stdout, MOST_EVENTS))
        running.kill()
    return lines


def compare(program: str, path: pathlib.Path) -> tuple[int, list[str]]:
    lines = dumped(program, path)
    try:
        trace = lttv.open(path)
    except (lttv.TraceError, OSError) as error:
        return 0, [] if not lines else [f"{path}: {error}"]
    problems = []
    count = 0
    events = trace.events(errors="ignore")
    for line, event in itertools.zip_longest(lines, events):
        if line is None or event is None:
            problems.append(f"{path}: {count} events of {len(lines)}")
            break
        count += 1
        if found := difference(event, json.loads(line)):
            problems.append(f"{path}: event {count}: {found}")
            break
        if count == MOST_EVENTS:
            break
    return count, problems


@pytest.mark.parametrize(
    "name", ["kernel", "ust", "ust-ctf2", "ust-lost", "ust-threads", "legacy", "ftrace", "perf"]
)
def test_values_are_those_of_the_program(program: str, traces: pathlib.Path, name: str) -> None:
    count, problems = compare(program, traces / name)
    assert not problems
    assert count > 0


def test_values_of_all_traces_are_those_of_the_program(program: str, shared: pathlib.Path) -> None:
    problems: list[str] = []
    total = 0
    for folder in ("ctf", "legacy", "ftrace", "perf-data"):
        for path in sorted((shared / folder).iterdir()):
            if path.suffix in (".json", ".sh"):
                continue
            count, found = compare(program, path)
            total += count
            problems += found
    assert not problems, "\n".join(problems[:20])
    assert total > 20_000


def test_fields_are_native(kernel: lttv.Trace) -> None:
    event = next(kernel.events("sched_switch"))
    assert event.name == "sched_switch"
    assert type(event.ts) is int and type(event.cpu) is int
    assert type(event["prev_comm"]) is str
    assert event["prev_tid"] == event.fields["prev_tid"]
    assert event["hostname"] == event.context["hostname"]
    assert event.get("nothing") is None and event.get("nothing", 3) == 3
    assert "prev_comm" in event and "nothing" not in event
    with pytest.raises(KeyError, match="sched_switch has no field nothing, but prev_comm"):
        event["nothing"]
    assert event.packet_context["cpu_id"] == event.cpu
    assert "id" in event.header
    assert repr(event).startswith("<Event ")


def test_labels_are_numbers_and_texts(kernel: lttv.Trace) -> None:
    event = next(kernel.events("irq_softirq_raise"))
    label = event["name"]
    assert isinstance(label, int) and label == 7 and label == "SCHED" and label != "NET_RX"
    assert label.labels == ("SCHED",) and str(label) == "SCHED"
    assert pickle.loads(pickle.dumps(label)).labels == label.labels


def test_selection(kernel: lttv.Trace) -> None:
    counts = collections.Counter(event.name for event in kernel)
    assert sum(counts.values()) == 6087
    names = [name for name in counts if name.startswith("sched_")]
    wanted = sum(counts[name] for name in names)
    assert sum(1 for _ in kernel.events("sched_*")) == wanted
    assert sum(1 for _ in kernel.events(["sched_switch", "sched_waking"])) == (
        counts["sched_switch"] + counts["sched_waking"]
    )
    assert sum(1 for _ in kernel.events([])) == 0
    by_cpu = collections.Counter(event.cpu for event in kernel)
    assert sum(1 for _ in kernel.events(cpu=[0])) == by_cpu[0]
    assert {event.cpu for event in kernel.events(cpu=1)} == {1}
    idle = [event for event in kernel.events("sched_switch") if event["next_tid"] == 0]
    found = kernel.events("sched_switch", where="next_tid == 0")
    assert [event.ts for event in found] == [event.ts for event in idle]


def test_windows(kernel: lttv.Trace) -> None:
    times = [event.ts for event in kernel]
    begin, end = times[1000], times[2000]
    inside = [ts for ts in times if begin <= ts <= end]
    assert [event.ts for event in kernel.events(begin=begin, end=end)] == inside
    assert kernel.begin == times[0] and kernel.end == times[-1]
    late = [event.ts for event in kernel.events(begin="+100ms")]
    assert late == [ts for ts in times if ts >= times[0] + 100_000_000]
    with pytest.raises(ValueError, match="is after the end"):
        kernel.events(begin=end, end=begin)


def test_times_beyond_63_bits(shared: pathlib.Path) -> None:
    trace = lttv.open(shared / "ctf" / "tc-funky_trace")
    times = [event.ts for event in itertools.islice(trace, 50)]
    assert times[:2] == [9618701287609447559, 9618701287609447560]
    assert (trace.begin, trace.end) == (trace.traces[0].begin, trace.traces[0].end)
    assert trace.begin == times[0] and times[-1] < trace.end < 2**64
    assert [row["_timestamp"] for row in itertools.islice(trace.events().as_dicts(), 50)] == times
    assert [ts for ts, in itertools.islice(trace.events().as_tuples("ts"), 50)] == times
    assert repr(next(iter(trace))).startswith(f"<Event {times[0]} ")
    assert [event.ts for event in trace.events(begin=times[5], end=times[9])] == times[5:10]


def test_filters_may_need_the_kernel_state(kernel: lttv.Trace, program: str, traces: pathlib.Path) -> None:
    text = "state.execution_mode == SYSCALL && state.tid > 0"
    found = [event.ts for event in kernel.events(where=text)]
    command = [program, "--no-config", "dump", "-e", text, "--format", "json", str(traces / "kernel")]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    assert found == [json.loads(line)["timestamp"] for line in lines]
    assert len(found) > 100
    # An iterator that is left early ends its thread.
    next(kernel.events(where=text))


def test_wrong_filters_are_explained(kernel: lttv.Trace) -> None:
    with pytest.raises(lttv.FilterError, match="expected"):
        kernel.events(where="next_tid ==")
    with pytest.raises(ValueError):
        kernel.events(where="next_tdi == 1 && nothing.here == 2")


def test_events_can_be_kept(kernel: lttv.Trace) -> None:
    kept = list(kernel.events("sched_*"))
    direct = [event.fields for event in kernel.events("sched_*")]
    assert [event.fields for event in kept] == direct
    assert [event.fields for event in reversed(kept)] == direct[::-1]
    assert [event["prev_tid"] for event in kept if event.name == "sched_switch"]


def test_tuples_and_dicts(kernel: lttv.Trace) -> None:
    names = ("ts", "name", "cpu", "next_tid", "fields.next_comm", "context.hostname", "missing")
    rows = list(kernel.events("sched_*").as_tuples(*names))
    events = list(kernel.events("sched_*"))
    assert rows == [
        (e.ts, e.name, e.cpu, e.get("next_tid"), e.fields.get("next_comm"), e["hostname"], None)
        for e in events
    ]
    dicts = list(kernel.events("sched_*").as_dicts())
    assert dicts == [
        {"_name": e.name, "_timestamp": e.ts, "_cpu": e.cpu, **e.context, **e.fields} for e in events
    ]
    # Two forms of one read have their own columns.
    both = kernel.events("sched_switch")
    first, second = both.as_tuples("ts"), both.as_tuples("name", "cpu")
    assert len(next(first)) == 1 and len(next(second)) == 2 and len(next(first)) == 1


def test_text_that_is_not_utf8_is_kept(tmp_path: pathlib.Path) -> None:
    metadata = b"""/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le; };
        event { name = "e"; fields := struct { string t; integer { size = 64; } n; }; };"""
    (tmp_path / "metadata").write_bytes(metadata)
    (tmp_path / "stream").write_bytes(b"a\xff\xfe\0" + (2**64 - 1).to_bytes(8, "little"))
    event = next(iter(lttv.open(tmp_path)))
    assert event["t"].encode("utf-8", "surrogateescape") == b"a\xff\xfe"
    assert event["n"] == 2**64 - 1


def test_damage_is_told(traces: pathlib.Path, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "cut"
    target.mkdir()
    source = traces / "kernel" / "kernel"
    for path in source.iterdir():
        if path.is_file():
            (target / path.name).write_bytes(path.read_bytes())
    largest = max((p for p in target.iterdir() if p.name != "metadata"), key=lambda p: p.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-5000])
    trace = lttv.open(target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        events = trace.events()
        count = sum(1 for _ in events)
    assert 0 < count < 6087
    (warning,) = [w.message for w in caught if isinstance(w.message, lttv.DamageWarning)]
    (error,) = events.errors
    assert isinstance(error, lttv.TraceError) and largest.name in str(error)
    assert error.packet is not None and error.offset is not None
    place = (str(largest), error.packet, error.offset)
    assert (warning.file, warning.packet, warning.offset) == (error.file, error.packet, error.offset) == place
    with pytest.raises(lttv.TraceError) as raised:
        for _ in trace.events(errors="raise"):
            pass
    assert (raised.value.file, raised.value.packet, raised.value.offset) == place
    with pytest.raises(ValueError, match="errors: expected"):
        trace.events(errors="stop")  # type: ignore[arg-type]


def test_losses_are_told(traces: pathlib.Path) -> None:
    trace = lttv.open(traces / "ust-lost")
    assert len(trace.losses) > 0
    assert trace.losses.to_dicts()[0]["tracefile"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sum(1 for _ in trace)
    assert [w for w in caught if w.category is lttv.LossWarning]


def test_what_is_no_trace(tmp_path: pathlib.Path) -> None:
    with pytest.raises(OSError) as missing:
        lttv.open(tmp_path / "missing")
    assert missing.value.errno == 2
    with pytest.raises(lttv.TraceError) as empty:
        lttv.open(tmp_path)
    assert empty.value.packet is None
    with pytest.raises(ValueError):
        lttv.open()


def test_facts(kernel: lttv.Trace, traces: pathlib.Path) -> None:
    (info,) = kernel.traces
    assert info.format == "ctf1" and info.hostname == "corpushost"
    assert info.env["domain"] == "kernel" and info.env["tracer_major"] == 2
    assert info.clocks[0].frequency == 1_000_000_000 and info.clocks[0].is_absolute
    assert len(info.streams) == 16 and info.streams[0].cpu is not None
    assert len(str(info.uuid)) == 36
    types = kernel.event_types["sched_switch"]
    assert types["prev_comm"] == "str" and types["prev_tid"] == "int32"
    formats = {name: lttv.open(traces / name).traces[0].format for name in ("ust-ctf2", "legacy", "perf")}
    assert formats == {"ust-ctf2": "ctf2", "legacy": "legacy", "perf": "perf"}


def test_threads_share_an_iterator(kernel: lttv.Trace) -> None:
    events = kernel.events()
    seen: list[int] = []

    def read() -> None:
        for event in events:
            event.fields
            seen.append(event.ts or 0)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 6087


def test_traces_are_pickled_by_their_paths(kernel: lttv.Trace) -> None:
    again = pickle.loads(pickle.dumps(kernel))
    assert again.begin == kernel.begin
    assert sum(1 for _ in again) == 6087


def test_progress(kernel: lttv.Trace) -> None:
    calls: list[tuple[int, int]] = []
    for _ in kernel.events(progress=lambda done, total: calls.append((done, total))):
        pass
    assert calls and calls[-1][0] == calls[-1][1] > 0

    def stop(done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        for _ in kernel.events(progress=stop):
            pass


def test_an_interrupt_ends_a_long_read(traces: pathlib.Path) -> None:
    script = """
import os, signal, threading, time, lttv
trace = lttv.open(*[os.environ["TRACE"]] )
def interrupt():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
began = time.monotonic()
try:
    while True:
        trace.table("sched_switch").to_dicts()
        trace.statistics()
        for event in trace.events(where="next_tid == -5"):
            pass
except KeyboardInterrupt:
    assert time.monotonic() - began < 3
    print("interrupted")
"""
    environment = {"TRACE": str(traces / "kernel"), "PATH": "/usr/bin"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout == "interrupted\n", done.stderr


def test_many_opens_leak_nothing(traces: pathlib.Path) -> None:
    fds = pathlib.Path("/proc/self/fd")
    maps = pathlib.Path("/proc/self/maps")
    before = len(list(fds.iterdir())), len(maps.read_text().splitlines())
    for _ in range(60):
        next(iter(lttv.open(traces / "kernel")))
    after = len(list(fds.iterdir())), len(maps.read_text().splitlines())
    assert after[0] <= before[0] + 2 and after[1] <= before[1] + 20


def test_hosts_with_clocks(traces: pathlib.Path) -> None:
    plain = lttv.open(traces / "kernel")
    moved = lttv.open(traces / "kernel", clock_offset={"corpushost": "+1.5ms"})
    assert moved.begin == plain.begin + 1_500_000
    assert next(iter(moved)).ts == moved.begin
    with pytest.raises(ValueError, match="clock_offset"):
        lttv.open(traces / "kernel", clock_offset={"corpushost": "later"})


def test_clocks_are_related_by_messages(program: str, tmp_path: pathlib.Path) -> None:
    """Two hosts send messages to each other; the clock of the second is 3 s late."""
    fields = {"seq": "uint32", "ack_seq": "uint32", "flags": "uint16"}
    begin, clocks, most = 1_795_000_000_000_000_000, (0, -3_000_000_000), 60_000
    events: tuple[list[tuple[int, str, dict[str, int]]], ...] = ([], [])
    for number in range(100):
        sent, sender = begin + number * 10_000_000, number % 2
        received, receiver = sent + 50_000 + number % 11 * 1000, 1 - sender
        values = {"seq": number, "ack_seq": 0, "flags": 16}
        events[sender].append((sent + clocks[sender], "inet_sock_local_out", values))
        events[receiver].append((received + clocks[receiver], "inet_sock_local_in", values))
    for host, of_host in enumerate(events):
        types = {"inet_sock_local_out": fields, "inet_sock_local_in": fields}
        with lttv.Writer(tmp_path / f"host{host}", types, env={"hostname": f"host{host}"}) as out:
            for ts, name, values in sorted(of_host, key=lambda event: event[0]):
                out.write(name, ts, values)
    plain = lttv.open(tmp_path)
    assert plain.begin == begin + clocks[1] + 50_000
    trace = lttv.open(tmp_path, sync=True)
    # The begin of each message is before its end, and as far from it as it was within the precision of messages.
    seen: dict[int, int] = {}
    for event in trace:
        if event.name == "inet_sock_local_out":
            seen[event["seq"]] = event.ts or 0
        else:
            assert 0 < (event.ts or 0) - seen[event["seq"]] < 2 * most
    assert len(seen) == 100
    times = [event.ts for event in trace]
    assert [event.ts for event in pickle.loads(pickle.dumps(trace))] == times == sorted(times)
    command = [program, "--no-config", "dump", "--sync", "--format", "json", str(tmp_path)]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    assert [json.loads(line)["timestamp"] for line in lines] == times
    assert trace.table("inet_sock_local_in", "ts").to_dicts()[0]["ts"] == next(trace.events("*_in")).ts
