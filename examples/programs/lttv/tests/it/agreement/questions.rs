//! The questions, and the places that answer each: one table.
//!
//! An argument may contain `{trace}` (otherwise the trace is the last argument), `{at}` (a time),
//! `{tid}` and `{comm}` (those with most events).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::support::module_rows;

/// The answer of a place: values by their subject.
pub(crate) type Answer = BTreeMap<String, Value>;

/// A question, and the places that answer it. The first one that answers is compared with the
/// others.
pub(crate) struct Question {
    pub(crate) name: &'static str,
    /// `true` if a place may leave out what another one tells.
    pub(crate) partial: bool,
    /// `true` if it is asked of traces that have no kernel events, too.
    pub(crate) of_all: bool,
    pub(crate) places: &'static [Place],
}

/// A command that answers a question.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) args: &'static [&'static str],
    /// Takes the answer from the output.
    pub(crate) read: fn(&Output<'_>) -> Answer,
    /// `true` if the answers of two windows add up to that of the whole.
    pub(crate) adds: bool,
}

/// The output of a command.
pub(crate) struct Output<'o> {
    pub(crate) json: &'o Value,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

const fn adds(
    name: &'static str,
    args: &'static [&'static str],
    read: fn(&Output<'_>) -> Answer,
) -> Place {
    Place { name, args, read, adds: true }
}

const fn whole(
    name: &'static str,
    args: &'static [&'static str],
    read: fn(&Output<'_>) -> Answer,
) -> Place {
    Place { name, args, read, adds: false }
}

const STATS: &[&str] = &["stats", "--format=json"];
const USAGE: &[&str] = &["usage", "--format=json"];
const WAIT: &[&str] = &["wait", "--format=json"];
const PATH: &[&str] = &["critical-path", "--format=json"];
const CAUSES: [&str; 10] = [
    "task_ns",
    "timer_ns",
    "block_ns",
    "network_ns",
    "irq_ns",
    "softirq_ns",
    "ipi_ns",
    "interrupt_ns",
    "no_wakeup_ns",
    "open_ns",
];
const STATES: [&[&str]; 3] = [&["running_ns"], &["preempted_ns", "woken_ns"], &CAUSES];
const IRQ: &[&str] = &["irq", "--format=json"];
const DISK: &[&str] = &["disk", "--format=json"];
const LATENCY: &[&str] = &["latency", "--format=json"];
const SPANS: &[&str] = &["spans", "--format=json"];
const BY_THREAD: &[&str] = &["latency", "--format=json", "--by=thread", "--family=read,write"];
const INFO: &[&str] = &["info", "--format=json", "--events"];
const RUN: &[&str] = &[
    "run",
    "--json",
    "-m",
    "statistics",
    "-m",
    "eventCounts",
    "-m",
    "usage",
    "-m",
    "interrupts",
    "-m",
    "diskPerformance",
    "-m",
    "latency",
    "-m",
    "criticalPath",
    "-t",
    "{trace}",
];
const RUN_WAITS: &[&str] = &["run", "--json", "-m", "depAnalysis", "-t", "{trace}"];
const RUN_COUNTS: &[&str] =
    &["run", "--json", "-m", "statistics", "-m", "eventCounts", "-t", "{trace}"];
pub(crate) const DUMP: &[&str] = &["dump", "--format=csv", "--columns=time,cpu,tid,comm,name"];
const DUMP_JSON: &[&str] = &["dump", "--format=json"];
const ON_CPU: &[&str] = &["history", "range", "{trace}", "*/CPUs/*/Thread", "--format=csv"];

/// All questions.
pub(crate) const QUESTIONS: &[Question] = &[
    Question {
        name: "CPU time by thread",
        partial: false,
        of_all: false,
        places: &[
            adds("stats", STATS, |o| sum(rows(o, "processes"), &["tid"], &["cpu_ns"])),
            adds("usage", USAGE, |o| sum(rows(o, "threads"), &["tid"], &["cpu_ns"])),
            adds("critical-path", PATH, |o| sum(rows(o, "states"), &["tid"], &["running_ns"])),
            whole("history", ON_CPU, on_cpu),
            adds("run statistics", RUN, |o| {
                let processes = members(&o.json["statistics"], "traces", &["processes"]);
                sum(processes.map(|(key, of)| tree_thread(&key, of)), &["tid"], &["cpu time"])
            }),
            adds("run usage", RUN, |o| sum(module(o, "usage", "threads"), &["tid"], &["cpu_ns"])),
            adds("run criticalPath", RUN, |o| {
                sum(module(o, "criticalPath", "states"), &["tid"], &["running_ns"])
            }),
        ],
    },
    Question {
        name: "busy time by CPU",
        partial: false,
        of_all: false,
        places: &[
            adds("stats", STATS, |o| sum(rows(o, "cpus"), &["cpu"], &["busy_ns"])),
            adds("usage", USAGE, |o| sum(rows(o, "cpus"), &["cpu"], &["busy_ns"])),
            adds("run usage", RUN, |o| sum(module(o, "usage", "cpus"), &["cpu"], &["busy_ns"])),
        ],
    },
    Question {
        name: "time ready by thread",
        partial: false,
        of_all: false,
        places: &[
            adds("stats", STATS, |o| sum(rows(o, "processes"), &["tid"], &["ready_ns"])),
            adds("critical-path", PATH, |o| {
                sum(rows(o, "states"), &["tid"], &["preempted_ns", "woken_ns"])
            }),
            adds("run statistics", RUN, |o| {
                let processes = members(&o.json["statistics"], "traces", &["processes"]);
                sum(processes.map(|(key, of)| tree_thread(&key, of)), &["tid"], &["ready time"])
            }),
        ],
    },
    Question {
        name: "time blocked by thread",
        partial: false,
        of_all: false,
        places: &[
            adds("stats", STATS, |o| sum(rows(o, "processes"), &["tid"], &["blocked_ns"])),
            // Statistics know a thread since the first event that names it.
            adds("critical-path", PATH, |o| {
                let mut sums = sum(rows(o, "states"), &["tid"], &CAUSES);
                for (tid, asleep) in sum(rows(o, "states"), &["tid"], &["asleep_ns"]) {
                    let known = sums[&tid].as_i64().zip(asleep.as_i64()).map_or(0, |(a, b)| a - b);
                    sums.insert(tid, known.into());
                }
                sums.retain(|_, sum| sum.as_i64() != Some(0));
                sums
            }),
            adds("run statistics", RUN, |o| {
                let processes = members(&o.json["statistics"], "traces", &["processes"]);
                sum(processes.map(|(key, of)| tree_thread(&key, of)), &["tid"], &["blocked time"])
            }),
        ],
    },
    Question {
        name: "states of a thread",
        partial: false,
        of_all: false,
        places: &[
            whole("critical-path", PATH, |o| of_states(rows(o, "states"), &STATES)),
            whole("wait", WAIT, |o| {
                let running = ["running_ns", "interrupted_ns"];
                of_states(rows(o, "threads"), &[&running, &["ready_ns"], &["blocked_ns"]])
            }),
            whole("wait causes", WAIT, |o| of_states(rows(o, "states"), &STATES)),
            whole("run criticalPath", RUN, |o| {
                of_states(module(o, "criticalPath", "states"), &STATES)
            }),
            whole("run depAnalysis", RUN_WAITS, |o| {
                of_states(module(o, "depAnalysis", "states"), &STATES)
            }),
        ],
    },
    Question {
        name: "events by name",
        partial: false,
        of_all: true,
        places: &[
            adds("dump", DUMP, |o| sum(csv(o), &["name"], &[])),
            adds("dump json", DUMP_JSON, |o| sum(csv(o), &["name"], &[])),
            adds("stats", STATS, |o| {
                let events = o.json["events"].as_object();
                sum(events.into_iter().flatten().map(count), &["name"], &["count"])
            }),
            whole("info", INFO, |o| sum(rows(o, "event_types"), &["name"], &["events"])),
            adds("run eventCounts", RUN_COUNTS, |o| {
                let types = module(o, "eventCounts", "event_types");
                sum(
                    types.map(|row| with(&row, "name", &text(&row["event"]))),
                    &["name"],
                    &["count"],
                )
            }),
            adds("run statistics", RUN_COUNTS, |o| {
                let types = members(&o.json["statistics"], "traces", &["event_types"]);
                sum(types.map(|(key, of)| count((&key, of))), &["name"], &["count"])
            }),
        ],
    },
    Question {
        name: "events by CPU",
        partial: false,
        of_all: false,
        places: &[
            adds("dump", DUMP, |o| sum(csv(o), &["cpu"], &[])),
            adds("stats", STATS, |o| sum(rows(o, "cpus"), &["cpu"], &["events"])),
            adds("run statistics", RUN, |o| {
                let cpus = members(&o.json["statistics"], "traces", &["cpu"]);
                let cpus = cpus.map(|(key, of)| with(of, "cpu", key.trim_matches(['[', ']'])));
                sum(cpus, &["cpu"], &["events count"])
            }),
        ],
    },
    Question {
        name: "events of a thread",
        partial: true,
        of_all: true,
        places: &[
            whole(
                "dump filter",
                &["dump", "--format=csv", "--columns=tid", "-e", "tid == {tid}"],
                |o| sum(csv(o), &["tid"], &[]),
            ),
            whole("dump column", DUMP, |o| sum(csv(o), &["tid"], &[])),
        ],
    },
    Question {
        name: "events of a command",
        partial: true,
        of_all: true,
        places: &[
            whole(
                "dump filter",
                &["dump", "--format=csv", "--columns=comm", "-e", "comm == \"{comm}\""],
                |o| sum(csv(o), &["comm"], &[]),
            ),
            whole("dump column", DUMP, |o| sum(csv(o), &["comm"], &[])),
        ],
    },
    Question {
        name: "bytes read by thread",
        partial: false,
        of_all: false,
        places: &[
            adds("stats", STATS, |o| sum(rows(o, "processes"), &["tid"], &["bytes_read"])),
            adds("latency", BY_THREAD, |o| sum(rows(o, "read"), &["tid"], &["bytes"])),
            adds("run statistics", RUN, |o| {
                let processes = members(&o.json["statistics"], "traces", &["processes"]);
                sum(processes.map(|(key, of)| tree_thread(&key, of)), &["tid"], &["bytes read"])
            }),
        ],
    },
    Question {
        name: "bytes written by thread",
        partial: false,
        of_all: false,
        places: &[
            adds("stats", STATS, |o| sum(rows(o, "processes"), &["tid"], &["bytes_written"])),
            adds("latency", BY_THREAD, |o| sum(rows(o, "write"), &["tid"], &["bytes"])),
            adds("run statistics", RUN, |o| {
                let processes = members(&o.json["statistics"], "traces", &["processes"]);
                sum(processes.map(|(key, of)| tree_thread(&key, of)), &["tid"], &["bytes written"])
            }),
        ],
    },
    Question {
        name: "bytes by disk",
        partial: false,
        of_all: false,
        places: &[
            adds("stats", STATS, |o| {
                sum(rows(o, "devices").map(disk), &["disk"], &["bytes_read", "bytes_written"])
            }),
            adds("disk", DISK, |o| {
                sum(rows(o, "disks"), &["disk"], &["bytes_read", "bytes_written"])
            }),
            adds("run diskPerformance", RUN, |o| {
                let disks = module(o, "diskPerformance", "disks");
                sum(disks, &["disk"], &["bytes_read", "bytes_written"])
            }),
        ],
    },
    Question {
        name: "busy time by disk",
        partial: false,
        of_all: false,
        places: &[
            adds("stats", STATS, |o| sum(rows(o, "devices").map(disk), &["disk"], &["busy_ns"])),
            adds("disk", DISK, |o| sum(rows(o, "disks"), &["disk"], &["busy_ns"])),
            adds("latency", LATENCY, |o| sum(rows(o, "disks"), &["disk"], &["busy_ns"])),
            adds("run diskPerformance", RUN, |o| {
                sum(module(o, "diskPerformance", "disks"), &["disk"], &["busy_ns"])
            }),
        ],
    },
    Question {
        name: "number of system calls that ended",
        partial: false,
        of_all: false,
        places: &[
            adds("stats", STATS, |o| calls(o, "count")),
            adds("latency", LATENCY, |o| sum(rows(o, "syscall"), &["subject"], &["count"])),
            adds("spans", SPANS, |o| sum(spans(o, "syscall"), &["name"], &[])),
            adds("run latency", RUN, |o| {
                sum(module(o, "latency", "syscall"), &["subject"], &["count"])
            }),
        ],
    },
    Question {
        name: "time of system calls that ended",
        partial: false,
        of_all: false,
        places: &[
            whole("stats", STATS, |o| calls(o, "total_ns")),
            whole("latency", LATENCY, |o| sum(rows(o, "syscall"), &["subject"], &["total_ns"])),
            whole("spans", SPANS, |o| sum(spans(o, "syscall"), &["name"], &["duration"])),
            whole("run latency", RUN, |o| {
                sum(module(o, "latency", "syscall"), &["subject"], &["total_ns"])
            }),
        ],
    },
    Question {
        name: "number of interrupts",
        partial: false,
        of_all: false,
        places: &[
            adds("irq", IRQ, |o| {
                sum(rows(o, "interrupts"), &["kind", "number", "name"], &["count"])
            }),
            adds("latency", LATENCY, |o| interrupts(o, "count")),
            adds("spans", SPANS, |o| {
                let kinds = ["irq", "softirq", "vector"];
                let all = kinds.into_iter().flat_map(|kind| spans(o, kind));
                sum(all, &["family", "name"], &[])
            }),
            adds("run interrupts", RUN, |o| {
                let interrupts = module(o, "interrupts", "interrupts");
                sum(interrupts, &["kind", "number", "name"], &["count"])
            }),
        ],
    },
    Question {
        name: "longest interrupt",
        partial: true,
        of_all: false,
        places: &[
            whole("irq", IRQ, |o| {
                greatest(rows(o, "interrupts"), &["kind", "number", "name"], "max_ns")
            }),
            whole("latency", LATENCY, |o| {
                greatest(interrupt_rows(o), &["kind", "subject"], "max_ns")
            }),
        ],
    },
    Question {
        name: "name of a thread at a time",
        partial: true,
        of_all: false,
        places: &[
            whole("state", &["state", "--format=json", "--at", "{at}"], |o| {
                names(rows(o, "processes").map(|row| (text(&row["tid"]), text(&row["comm"]))))
            }),
            whole(
                "history",
                &["history", "at", "{trace}", "{at}", "*/Threads/*/Name", "--format=json"],
                |o| {
                    names(rows_of(o.json).map(|row| {
                        let path = text(&row["path"]);
                        let tid = path.split('/').nth(2).unwrap_or_default().to_owned();
                        (tid, text(&row["value"]))
                    }))
                },
            ),
            whole(
                "dump column",
                &["dump", "--format=csv", "--columns=tid,comm,name,fields", "--end", "{at}"],
                |o| names(csv(o).flat_map(told_names)),
            ),
        ],
    },
    Question {
        name: "name of a thread at the end",
        partial: true,
        of_all: true,
        places: &[
            whole("stats", STATS, |o| {
                names(rows(o, "processes").map(|row| (text(&row["tid"]), text(&row["name"]))))
            }),
            whole("usage", USAGE, |o| {
                names(rows(o, "threads").map(|row| (text(&row["tid"]), text(&row["command"]))))
            }),
            whole("wait", WAIT, |o| {
                names(rows(o, "threads").map(|row| (text(&row["tid"]), text(&row["command"]))))
            }),
            whole("critical-path", PATH, |o| {
                names(rows(o, "states").map(|row| (text(&row["tid"]), text(&row["command"]))))
            }),
            whole(
                "dump column",
                &["dump", "--format=csv", "--columns=tid,comm,name,fields"],
                |o| names(csv(o).flat_map(told_names)),
            ),
        ],
    },
];

/// Returns the text of a value without quotes.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn rows_of(value: &Value) -> impl Iterator<Item = Value> + '_ {
    value.as_array().into_iter().flatten().cloned()
}

/// Returns the rows of a table.
fn rows<'o>(output: &'o Output<'_>, table: &str) -> impl Iterator<Item = Value> + 'o {
    rows_of(&output.json[table])
}

/// Returns the rows of CSV, or of JSON with an object per line.
fn csv<'o>(output: &'o Output<'_>) -> impl Iterator<Item = Value> + 'o {
    rows_of(output.json)
}

/// Returns the members of an object in the results of each trace, by their names.
fn members<'o>(
    results: &'o Value,
    traces: &str,
    path: &[&str],
) -> impl Iterator<Item = (String, &'o Value)> + use<'o> {
    let path: Vec<String> = path.iter().map(|&name| name.to_owned()).collect();
    results[traces].as_object().into_iter().flatten().flat_map(move |(_, trace)| {
        let of = path.iter().fold(trace, |of, name| &of[name.as_str()]);
        of.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value))
    })
}

fn with(row: &Value, name: &str, value: &str) -> Value {
    let mut row = row.clone();
    if let Value::Object(row) = &mut row {
        row.insert(name.to_owned(), value.into());
    }
    row
}

fn count((name, of): (&String, &Value)) -> Value {
    let count = if of.is_object() { &of["count"] } else { of };
    Value::Object(Map::from_iter([
        ("name".to_owned(), name.as_str().into()),
        ("count".to_owned(), count.clone()),
    ]))
}

fn disk(row: Value) -> Value {
    let name = format!("{},{}", text(&row["major"]), text(&row["minor"]));
    with(&row, "disk", &name)
}

/// Adds up columns of the rows with the same key; without columns, counts the rows. Idle threads
/// and zeros are left out.
fn sum(rows: impl Iterator<Item = Value>, key: &[&str], columns: &[&str]) -> Answer {
    let mut sums = BTreeMap::<String, i64>::new();
    for row in rows {
        let name = key_of(&row, key);
        if key == ["tid"] && (name == "0" || name.is_empty()) {
            continue;
        }
        let value = match columns {
            [] => 1,
            columns => columns.iter().filter_map(|&column| row[column].as_i64()).sum(),
        };
        *sums.entry(name).or_default() += value;
    }
    sums.retain(|_, sum| *sum != 0);
    sums.into_iter().map(|(name, sum)| (name, sum.into())).collect()
}

fn greatest(rows: impl Iterator<Item = Value>, key: &[&str], column: &str) -> Answer {
    let mut greatest = BTreeMap::<String, i64>::new();
    for row in rows {
        let of = greatest.entry(key_of(&row, key)).or_default();
        *of = row[column].as_i64().unwrap_or(0).max(*of);
    }
    greatest.retain(|_, value| *value != 0);
    greatest.into_iter().map(|(name, value)| (name, value.into())).collect()
}

fn key_of(row: &Value, key: &[&str]) -> String {
    let parts: Vec<String> = key.iter().map(|&name| text(&row[name])).collect();
    parts.join(" ").trim().to_owned()
}

/// Returns the last name of each thread that has one. Threads are those with their own number.
fn names(of: impl Iterator<Item = (String, String)>) -> Answer {
    let of = of.filter(|(tid, name)| {
        tid != "0"
            && tid.bytes().all(|byte| byte.is_ascii_digit())
            && !tid.is_empty()
            && !name.is_empty()
    });
    of.map(|(tid, name)| (tid, name.into())).collect()
}

/// Returns the names that an event tells, in order: that of its thread, and those in its fields.
fn told_names(row: Value) -> Vec<(String, String)> {
    let mut told = vec![(text(&row["tid"]), text(&row["comm"]))];
    let fields = text(&row["fields"]);
    let field = |name: &str| {
        let start = format!("{name} = ");
        let value = fields.split(", ").find_map(|field| field.strip_prefix(&*start))?;
        Some(value.trim_matches('"').to_owned())
    };
    match &*text(&row["name"]) {
        "sched_switch" => told.extend(field("next_tid").zip(field("next_comm"))),
        name if name.starts_with("sched_wak") || name == "sched_migrate_task" => {
            told.extend(field("tid").zip(field("comm")));
        }
        _ => {}
    }
    told
}

/// Returns the times of threads running, ready and blocked, from the columns of each.
fn of_states(rows: impl Iterator<Item = Value>, columns: &[&[&str]; 3]) -> Answer {
    let rows: Vec<Value> = rows.collect();
    let of = |(state, columns): (&str, &&[&str])| {
        let sums = sum(rows.iter().cloned(), &["tid"], columns).into_iter();
        sums.map(|(tid, time)| (format!("{tid} {state}"), time)).collect::<Answer>()
    };
    ["running", "ready", "blocked"].into_iter().zip(columns).flat_map(of).collect()
}

/// Returns the rows of a table of a module; none if the module has no results.
fn module(output: &Output<'_>, module: &str, table: &str) -> std::vec::IntoIter<Value> {
    let has_results = output.json.get(module).is_some_and(|of| of.get(table).is_some());
    let rows = if has_results { module_rows(output.json, module, table) } else { Vec::new() };
    rows.into_iter()
}

/// Returns a row of a process of the tree of `statistics`, whose name is the thread's number and
/// the time of its start.
fn tree_thread(name: &str, of: &Value) -> Value {
    let tid = name.split_once('-').map_or("0", |(tid, _)| tid);
    with(of, "tid", if tid.bytes().all(|byte| byte.is_ascii_digit()) { tid } else { "0" })
}

fn on_cpu(output: &Output<'_>) -> Answer {
    let rows = csv(output).map(|row| {
        let time = |name: &str| text(&row[name]).parse::<u64>().unwrap_or(0);
        let from = time("start_ns").max(output.begin);
        let time = time("end_ns").min(output.end).saturating_sub(from);
        let mut of = Map::new();
        of.insert("tid".to_owned(), text(&row["value"]).into());
        of.insert("time".to_owned(), time.into());
        Value::Object(of)
    });
    let mut answer = sum(rows, &["tid"], &["time"]);
    answer.retain(|tid, _| tid.bytes().all(|byte| byte.is_ascii_digit()));
    answer
}

/// Adds up a figure of the system calls of all processes.
fn calls(output: &Output<'_>, figure: &str) -> Answer {
    let calls = rows(output, "processes").flat_map(|row| {
        let calls = row["syscalls"].as_object().cloned().unwrap_or_default();
        calls.into_iter().map(|(name, of)| with(&of, "subject", &name)).collect::<Vec<_>>()
    });
    sum(calls, &["subject"], &[figure])
}

/// Returns the spans of a family whose begin and end were seen.
fn spans<'o>(output: &'o Output<'_>, family: &'o str) -> impl Iterator<Item = Value> + 'o {
    let is_it = move |row: &Value| row["family"] == family && row["completeness"] == "whole";
    csv(output).filter(is_it)
}

fn interrupt_rows<'o>(output: &'o Output<'_>) -> impl Iterator<Item = Value> + 'o {
    ["irq", "softirq", "vector"]
        .into_iter()
        .flat_map(|kind| rows(output, kind).map(move |row| with(&row, "kind", kind)))
}

fn interrupts(output: &Output<'_>, figure: &str) -> Answer {
    sum(interrupt_rows(output), &["kind", "subject"], &[figure])
}
