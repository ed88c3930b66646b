"""Traces that grow, and live sessions."""

from __future__ import annotations

import gzip
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

import lttv


def test_a_directory_is_followed(traces: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = traces / "ust-ctf2"
    (metadata,) = source.rglob("metadata")
    target = tmp_path / "trace"
    target.mkdir()
    events = lttv.follow(target, timeout=0.05, silence=0.2)
    assert next(events) is None
    assert events.poll() is None and not events.has_ended
    shutil.copy(metadata, target / "metadata")
    streams = [path for path in metadata.parent.iterdir() if path.is_file() and path.name != "metadata"]
    for path in streams:
        (target / path.name).touch()
    time.sleep(0.05)
    for path in streams:
        shutil.copy(path, target / path.name)
    expected = [(event.ts, event.name, event.fields) for event in lttv.open(target)]
    found = []
    deadline = time.monotonic() + 20
    while len(found) < len(expected) and time.monotonic() < deadline:
        event = events.poll(0.5)
        if event is None:
            events.complete()
        else:
            found.append((event.ts, event.name, event.fields))
    assert found == expected
    events.complete()
    assert [event for event in events if event is not None] == []
    assert events.has_ended


def test_a_filter_is_followed(traces: pathlib.Path) -> None:
    events = lttv.follow(traces / "kernel", "sched_switch", where="next_tid == 0", timeout=0.5)
    kept = []
    while (event := events.poll(1.0)) is not None:
        kept.append(event)
    events.complete()
    kept += [event for event in events if event is not None]
    wanted = lttv.open(traces / "kernel").events("sched_switch", where="next_tid == 0")
    # Events of a recording are decoded, so that they can be kept.
    assert [event.fields for event in kept] == [event.fields for event in wanted]
    assert {event.stream.split("_")[0] for event in kept} == {"sched"}
    with pytest.raises(lttv.FilterError, match="kernel state"):
        for event in lttv.follow(traces / "kernel", where="state.tid == 1", timeout=1.0):
            break


def test_wrong_addresses() -> None:
    with pytest.raises(lttv.TraceError, match="127.0.0.1:1"):
        lttv.follow("net://127.0.0.1:1/host/a/b")
    with pytest.raises(lttv.TraceError, match="is no address"):
        lttv.follow("net://h/nothing")


def relayd(shared: pathlib.Path, recording: str) -> tuple[subprocess.Popen[str], int]:
    """Starts a daemon that replays a conversation, and returns its port."""
    live = shared.parent / "live"
    words = [sys.executable, "fake_relayd.py", "0", str(live / "recordings" / f"{recording}.rec.gz")]
    daemon = subprocess.Popen(words, cwd=live / "tools", stdout=subprocess.PIPE, text=True)
    assert daemon.stdout is not None
    return daemon, int(daemon.stdout.readline().split()[-1])


@pytest.mark.parametrize("recording, session, count", [("normal", "r1", 132), ("perpid", "r3", 22)])
def test_a_live_session(shared: pathlib.Path, recording: str, session: str, count: int) -> None:
    daemon, port = relayd(shared, recording)
    try:
        address = f"net://127.0.0.1:{port}/host/vm/{session}"
        text = gzip.open(shared.parent / "live" / "recordings" / f"{recording}.txt.gz", "rt").read()
        expected = [line.split(": {")[0].split()[-1] for line in text.splitlines()]
        events = list(lttv.follow(address, from_start=True))
        assert [event.name for event in events] == expected
        assert len(events) == count
        assert events[0]["seq"] == events[0].fields["seq"] == 0
        # The same, without blocking. The daemon of the tests has one viewer at a time.
        del events
        polled = lttv.follow(address, from_start=True)
        found = 0
        while not polled.has_ended:
            found += polled.poll(0.05) is not None
        assert found == count
    finally:
        daemon.kill()
        daemon.wait()


def test_an_interrupt_ends_a_wait(tmp_path: pathlib.Path) -> None:
    script = """
import os, signal, sys, threading, time, lttv
def interrupt():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    for event in lttv.follow(sys.argv[1]):
        pass
except KeyboardInterrupt:
    print("interrupted")
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert done.stdout == "interrupted\n", done.stderr
