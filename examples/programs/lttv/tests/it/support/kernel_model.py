"""Statistics of a Linux kernel trace, computed from the text of babeltrace2.

Reads the text (`babeltrace2 --clock-seconds --no-delta TRACE`) from the standard
input, and prints the same JSON as `lttv stats --format json`. It shares nothing with
that program, and is written as simply as possible, to verify it. It accepts traces
of LTTng 2.x of one machine, without lost events.

With arguments `BEGIN END [BEGIN END …]`, times in ns, it prints a list with the statistics
of each of these windows. Times are cut at the borders of a window, events at a border are
inside, and durations are those of what ends inside.
"""

import json
import re
import sys

LINE = re.compile(r'\[(-?\d+)\.(\d{9})\] (?:\S+ )?(\S+): \{ cpu_id = (\d+) \},(.*)')
# They read from one file and write to another.
COPIES = {'splice', 'tee', 'sendfile', 'sendfile64', 'copy_file_range'}
READS = COPIES | {'read', 'readv', 'pread', 'pread64', 'preadv', 'preadv2', 'recv', 'recvfrom', 'recvmsg'}
WRITES = COPIES | {'write', 'writev', 'pwrite', 'pwrite64', 'pwritev', 'pwritev2', 'send', 'sendto',
          'sendmsg'}
STEPS = {'block_rq_insert': 'inserted', 'block_rq_merge': 'merged',
         'block_bio_backmerge': 'merged', 'block_bio_frontmerge': 'merged',
         'block_rq_issue': 'issued', 'block_rq_complete': 'completed'}


def number(fields, *names):
    """Returns the integer in the first of these fields that the event has."""
    for name in names:
        found = re.search(r'[{,] ' + name + r' = (?:\( "[^"]*" : container = )?(-?\d+)', fields)
        if found:
            return int(found[1])
    return None


def payload(scopes):
    """Returns the last scope of an event, after its contexts."""
    return '{' + scopes.rpartition(', {')[2]


class Durations:
    def __init__(self):
        self.all = []

    def report(self):
        return {'count': len(self.all), 'total_ns': sum(self.all),
                'min_ns': min(self.all, default=None), 'max_ns': max(self.all, default=None)}


class Thread:
    def __init__(self):
        self.cpu_time = self.scheduled = self.migrations = 0
        self.read = self.written = self.blocks_read = self.blocks_written = 0
        self.disks = {}
        self.call = self.woken = None
        self.calls = {}
        self.latency = Durations()


class Cpu:
    """A CPU. Its first switch names the thread that ran from the start."""

    def __init__(self):
        self.running = self.since = None
        self.busy = self.idle = self.read = self.written = 0
        self.disks = {}


class Machine:
    def __init__(self, window=(None, None)):
        self.cpus, self.threads, self.events, self.disks = {}, {}, {}, {}
        self.first = self.begin = self.end = None
        self.window = window

    def inside(self, time):
        return self.first_inside <= time <= self.last_inside

    def part(self, since, time):
        """Returns the part of a time in the window."""
        return max(0, min(time, self.end) - max(since, self.begin))

    def thread(self, tid):
        return self.threads.setdefault(tid, Thread())

    def read(self, lines):
        lines = [found for found in map(LINE.match, lines) if found]
        time = lambda line: int(line[1]) * 10**9 + int(line[2])
        self.first, last = time(lines[0]), time(lines[-1])
        begin, end = self.window
        self.first_inside = self.first if begin is None else begin
        self.last_inside = last if end is None else end
        self.begin, self.end = max(self.first, self.first_inside), min(last, self.last_inside)
        for line in lines:
            cpu = self.cpus.setdefault(int(line[4]), Cpu())
            if cpu.running is None and line[3] == 'sched_switch':
                cpu.running, cpu.since = number(payload(line[5]), 'prev_tid'), self.first
        for line in lines:
            self.event(time(line), line[3], self.cpus[int(line[4])], payload(line[5]))

    def event(self, time, name, cpu, fields):
        if self.inside(time):
            self.events[name] = self.events.get(name, 0) + 1
        self.common(time, name, fields)
        if name == 'sched_switch':
            self.switch(time, cpu, number(fields, 'prev_tid'), number(fields, 'next_tid'))
        elif cpu.running is not None:
            self.own(time, name, fields, cpu)

    def common(self, time, name, fields):
        """Handles changes that do not depend on the running thread."""
        tid = number(fields, 'tid') if name.startswith('sched_') else None
        if name in ('sched_waking', 'sched_wakeup', 'sched_wakeup_new') and tid != 0:
            thread = self.thread(tid)
            if thread.woken is None and not any(cpu.running == tid for cpu in self.cpus.values()):
                thread.woken = time
        elif name == 'sched_migrate_task' and tid != 0:
            self.thread(tid).migrations += self.inside(time)
        elif name == 'block_rq_complete':
            sectors = number(fields, 'nr_sector')
            disk = self.disks.setdefault(number(fields, 'dev'), {'requests': 0, 'bytes': 0})
            if sectors and self.inside(time):
                disk['requests'] += 1
                disk['bytes'] += 512 * sectors

    def switch(self, time, cpu, out, into):
        assert cpu.running == out, (time, cpu.running, out)
        self.charge(cpu, time)
        cpu.running, cpu.since = into, time
        thread = self.thread(into)
        thread.scheduled += self.inside(time)
        if thread.woken is not None:
            if self.inside(time):
                thread.latency.all.append(time - thread.woken)
            thread.woken = None

    def charge(self, cpu, time):
        part = self.part(cpu.since, time)
        if cpu.running == 0:
            cpu.idle += part
        else:
            cpu.busy += part
        self.thread(cpu.running).cpu_time += part

    def own(self, time, name, fields, cpu):
        """Handles activities of the running thread."""
        thread = self.thread(cpu.running)
        is_inside = self.inside(time)
        step = STEPS.get(name) if is_inside else None
        # A flush ends a second time, without sectors.
        if step and (step != 'completed' or number(fields, 'nr_sector')
                     or number(fields, 'rwbs') & 7 in (0, 2)):
            for of in (cpu, thread):
                disk = of.disks.setdefault(number(fields, 'dev'), dict.fromkeys(STEPS.values(), 0))
                disk[step] += 1
        if cpu.running == 0:
            return
        call = re.match(r'(?:compat_)?(?:syscall_entry_|sys_)(.*)', name)
        if call:
            # Calls without a name in the tracer have a number.
            is_named = call[1] != 'unknown'
            thread.call = (call[1] if is_named else f'syscall {number(fields, "id")}', time)
        elif re.match(r'(?:compat_)?syscall_exit_|exit_syscall$', name):
            if thread.call:
                call, begin = thread.call
            if thread.call and is_inside:
                thread.calls.setdefault(call, Durations()).all.append(time - begin)
                moved = number(fields, 'ret') or 0
                if call in READS and moved > 0:
                    thread.read += moved
                    cpu.read += moved
                if call in WRITES and moved > 0:
                    thread.written += moved
                    cpu.written += moved
            thread.call = None
        elif name == 'block_rq_issue' and is_inside:
            kind = number(fields, 'rwbs')
            # Older kernels record bytes only for commands that are no reads or writes.
            size = number(fields, 'bytes') or 512 * number(fields, 'nr_sector')
            if not kind & 2:  # discards
                if kind & 1:
                    thread.blocks_written += size
                elif kind & 4:
                    thread.blocks_read += size

    def report(self):
        for cpu in self.cpus.values():
            if cpu.running is not None:
                self.charge(cpu, max(cpu.since, self.end))
        return {
            'begin_ns': self.begin,
            'end_ns': self.end,
            'events': self.events,
            'cpus': [{'cpu': number, 'busy_ns': cpu.busy, 'idle_ns': cpu.idle,
                      'bytes_read': cpu.read, 'bytes_written': cpu.written, 'disks': cpu.disks}
                     for number, cpu in sorted(self.cpus.items()) if cpu.running is not None],
            'disks': self.disks,
            'threads': {tid: {
                'cpu_ns': thread.cpu_time,
                'times_scheduled': thread.scheduled,
                'migrations': thread.migrations,
                'bytes_read': thread.read,
                'bytes_written': thread.written,
                'blocks_read': thread.blocks_read,
                'blocks_written': thread.blocks_written,
                'disks': thread.disks,
                'wakeup_latency': thread.latency.report(),
                'syscalls': {call: times.report() for call, times in thread.calls.items()},
            } for tid, thread in self.threads.items()},
        }


def statistics(lines, window=(None, None)):
    machine = Machine(window)
    machine.read(lines)
    return machine.report()


if __name__ == '__main__':
    borders = [int(time) for time in sys.argv[1:]]
    if borders:
        lines = list(sys.stdin)
        windows = zip(borders[::2], borders[1::2])
        json.dump([statistics(lines, window) for window in windows], sys.stdout)
    else:
        json.dump(statistics(sys.stdin), sys.stdout)
