//! The numbers of events that pass filters in real recordings, compared with numbers
//! counted in babeltrace's output by independent code.
//!
//! The recordings and their texts are in `../shared` beside the repository; without
//! them the test says so and passes. Where babeltrace2 is installed, its text of
//! today is looked at, too.

mod line;

use std::io::Read;
use std::path::{Path, PathBuf};

use line::{Line, Value};
use lttv_filter::{Expression, Filters};

/// A filter, and the equivalent condition on a line of output.
type Case = (&'static str, fn(&Line) -> bool);

/// The nanoseconds of a second.
const NS: i64 = 1_000_000_000;

/// A recording of user space with fields of all kinds: 8924 events within 66 ms.
const FIELDS: &[Case] = &[
    ("true", |_| true),
    ("event.name == \"corp:ints\"", |e| e.name == "corp:ints"),
    ("event.name =~ \"corp:*s\"", |e| e.name.starts_with("corp:") && e.name.ends_with('s')),
    ("event.name !~ \"*[:_]e*\"", |e| !e.name.contains(":e") && !e.name.contains("_e")),
    ("event.name in (\"corp:ints\", \"corp:empty\", nothing)", |e| {
        ["corp:ints", "corp:empty"].contains(&&*e.name)
    }),
    ("event.loglevel <= 4 || event.loglevel == INFO", |e| {
        e.loglevel.is_some_and(|level| level <= 4 || level == 6)
    }),
    // Signed and unsigned integers, in all bases, of both byte orders.
    ("i8 < 0", |e| e.int("i8").is_some_and(|n| n < 0)),
    ("u8 >= 0b1000_0000 && u8 != 0xff", |e| e.int("u8").is_some_and(|n| (128..255).contains(&n))),
    ("i16 < -5 or i16 > 0o17", |e| e.int("i16").is_some_and(|n| !(-5..=15).contains(&n))),
    ("i32 in (-1, 0, 1, 65_535)", |e| e.int("i32").is_some_and(|n| [-1, 0, 1, 65535].contains(&n))),
    ("u64 > 0x7fff_ffff_ffff_ffff", |e| e.int("u64").is_some_and(|n| n > i64::MAX.into())),
    ("i64 <= -9223372036854775808 || i64 == 9223372036854775807", |e| {
        e.int("i64").is_some_and(|n| n == i64::MIN.into() || n == i64::MAX.into())
    }),
    ("n32 >= 65536 && nx64 != 0", |e| {
        e.int("n32").is_some_and(|n| n >= 65536) && e.int("nx64").is_some_and(|n| n != 0)
    }),
    // Floating point.
    ("d > 1000.5", |e| e.float("d").is_some_and(|x| x > 1000.5)),
    ("f < 0.5 && f > -1e3", |e| e.float("f").is_some_and(|x| x < 0.5 && x > -1000.0)),
    ("event.fields.`corp:work_end`.ms >= 1 && ret < 0", |e| {
        e.float("ms").is_some_and(|x| x >= 1.0) && e.int("ret").is_some_and(|n| n < 0)
    }),
    // Enumerations: labels that overlap, and numbers without one.
    ("st == RANGE", |e| e.labels("st").is_some_and(|l| l.iter().any(|l| l == "RANGE"))),
    ("st == OVERLAP && st != RANGE", |e| {
        let is = |l: &[String], label: &str| l.iter().any(|l| l == label);
        e.labels("st").is_some_and(|l| is(l, "OVERLAP") && !is(l, "RANGE"))
    }),
    ("st =~ \"*R*\"", |e| e.labels("st").is_some_and(|l| l.iter().any(|l| l.contains('R')))),
    ("st in (RANGE, 251)", |e| {
        let ranged = e.labels("st").is_some_and(|l| l.iter().any(|l| l == "RANGE"));
        ranged || e.int("st") == Some(251)
    }),
    ("sn < 0", |e| e.int("sn").is_some_and(|n| n < 0)),
    // Text.
    ("what == \"\"", |e| e.text("what") == Some("")),
    ("s =~ \"item-?tab\\tnl\\nend\"", |e| {
        e.text("s")
            .is_some_and(|s| s.len() == 16 && s.starts_with("item-") && s.ends_with("tab\tnl\nend"))
    }),
    ("event.fields.`corp:strs`.st =~ \"*1[0-4]?\"", |e| {
        let st = e.text("st").map(str::as_bytes);
        st.is_some_and(|s| matches!(s, [.., b'1', b'0'..=b'4', _]))
    }),
    // Arrays, and sequences that are shorter than the index.
    ("a4[1] > 0", |e| e.int("a4.1").is_some_and(|n| n > 0)),
    ("seqx[9] >= 0x8000_0000", |e| e.int("seqx.9").is_some_and(|n| n >= 0x8000_0000)),
    (
        "exists(seq[9]) && !exists(seq[10])",
        |e| matches!(e.field("seq"), Some(Value::Array(elements)) if elements.len() == 10),
    ),
    ("net[0] > 4_000_000_000 ^ bytes[0] == 255", |e| {
        e.int("net.0").is_some_and(|n| n > 4_000_000_000) != (e.int("bytes.0") == Some(255))
    }),
    // Contexts.
    ("event.context.procname =~ \"wrk-[12]\"", |e| {
        let name = e.context("procname").and_then(Value::text);
        name.is_some_and(|name| name == "wrk-1" || name == "wrk-2")
    }),
    ("vtid not in (5326, 5328) && packet.context.cpu_id == 0", |e| {
        let vtid = e.context("vtid").and_then(Value::int);
        vtid.is_some_and(|n| n != 5326 && n != 5328) && e.cpu() == 0
    }),
    // Times, in all spellings.
    ("event.time >= 1795230127.8", |e| e.ns >= 1_795_230_127_800_000_000),
    ("event.time < 03:02:07.8", |e| e.ns < 1_795_230_127_800_000_000),
    ("event.time > 2026-11-21T04:32:07.790000001+01:30 && event.time <= 03:02:07.81", |e| {
        e.ns > 1_795_230_127_790_000_001 && e.ns <= 1_795_230_127_810_000_000
    }),
    ("event.time < 1795230127s || event.time >= 1795230127820ms", |e| {
        e.ns >= 1_795_230_127_820_000_000
    }),
    // Fields that are absent.
    ("!(i8 < 0)", |e| e.int("i8").is_none_or(|n| n >= 0)),
    ("i8 != 0 || v != 5", |e| {
        e.int("i8").is_some_and(|n| n != 0) || e.int("v").is_some_and(|n| n != 5)
    }),
];

/// A recording of the kernel on eight CPUs: 6087 events.
const KERNEL: &[Case] = &[
    ("event.name == sched_switch", |e| e.name == "sched_switch"),
    ("tracefile.cpu == 3", |e| e.cpu() == 3),
    ("tracefile.cpu in (0, 2, 4, 6) && event.name =~ \"syscall_*\"", |e| {
        e.cpu() % 2 == 0 && e.name.starts_with("syscall_")
    }),
    ("packet.context.cpu_id > 5 or next_tid == 0", |e| e.cpu() > 5 || e.int("next_tid") == Some(0)),
    ("event.fields.sched_switch.prev_state != 0 && next_comm !~ \"swapper/*\"", |e| {
        e.int("prev_state").is_some_and(|n| n != 0)
            && e.text("next_comm").is_some_and(|s| !s.starts_with("swapper/"))
    }),
    ("event.fields.*.ret < 0 && event.name !~ \"*read\"", |e| {
        e.int("ret").is_some_and(|n| n < 0) && !e.name.ends_with("read")
    }),
    ("ret > 0 and ret <= 4096 and not event.name in (syscall_exit_read)", |e| {
        e.int("ret").is_some_and(|n| n > 0 && n <= 4096) && e.name != "syscall_exit_read"
    }),
    // Numbers beyond the limits of the field in one type of events or another.
    ("ret < 9223372036854775808 && ret > -1e30", |e| e.int("ret").is_some()),
    ("ret not in (-1, 0.5, 1e30)", |e| e.int("ret").is_some_and(|n| n != -1)),
    ("!(ret == -1 || ret >= 0.5)", |e| e.int("ret").is_none_or(|n| n != -1 && n <= 0)),
    ("event.time >= 1795233416.5 && event.time < 1795233416.6", |e| {
        (1_795_233_416 * NS + 500_000_000..1_795_233_416 * NS + 600_000_000).contains(&e.ns)
    }),
    ("!(event.time >= 03:56:56.4 && event.time < 03:56:56.8) && tracefile.cpu < 2", |e| {
        let at = |tenths: i64| 1_795_233_416 * NS + tenths * NS / 10;
        !(e.ns >= at(4) && e.ns < at(8)) && e.cpu() < 2
    }),
];

/// A recording of the kernel, with structures within structures and arrays.
const NESTED: &[Case] = &[
    ("fds[0].events.EPOLLIN == 1", |e| e.int("fds.0.events.EPOLLIN") == Some(1)),
    ("fds[0].data_union.fd > 30 && overflow == 0", |e| {
        e.int("fds.0.data_union.fd").is_some_and(|n| n > 30) && e.int("overflow") == Some(0)
    }),
    ("exists(fds) && !exists(fds[0])", |e| e.field("fds").is_some() && e.field("fds.0").is_none()),
    ("msg =~ \"*\\\"q\\\"\\n\"", |e| e.text("msg").is_some_and(|s| s.ends_with("\"q\"\n"))),
    ("event.context.tid == 154 || event.context.procname == pong", |e| {
        let procname = e.context("procname").and_then(Value::text);
        e.context("tid").and_then(Value::int) == Some(154) || procname == Some("pong")
    }),
];

/// A recording of kernel and user space. Comparisons with fields that a trace does not
/// have are false there.
const BOTH: &[Case] = &[
    ("event.name == sched_switch || event.name =~ \"*:*\"", |e| {
        e.name == "sched_switch" || e.name.contains(':')
    }),
    ("next_tid > 0 || i8 < 0", |e| {
        e.int("next_tid").is_some_and(|n| n > 0) || e.int("i8").is_some_and(|n| n < 0)
    }),
    ("event.context.tid != 0", |e| e.context("tid").and_then(Value::int).is_some_and(|n| n != 0)),
];

const TRACES: [(&str, &[Case]); 4] =
    [("u1-all", FIELDS), ("k1-8cpu", KERNEL), ("k1-multi", NESTED), ("k1-mix", BOTH)];

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared")
}

fn lines(text: &[u8]) -> Vec<Line> {
    String::from_utf8_lossy(text).lines().map(Line::parse).collect()
}

/// Returns the differences between our counts and those of the text.
fn differences(name: &str, cases: &[Case], lines: &[Line]) -> Vec<String> {
    let traces = ltt_read::open_all(shared().join("traces/ctf").join(name)).expect("a trace");
    let count = |(text, means): &Case| -> Result<(), String> {
        let expected = lines.iter().filter(|line| means(line)).count();
        let filters = Expression::parse(text).and_then(|e| Filters::new(&e, &traces));
        let filters = match filters {
            Ok(filters) => filters,
            Err(error) => return Err(format!("{name}: {text}\n{error}")),
        };
        let mut events = filters.read();
        let read = std::iter::from_fn(|| events.next().map(drop)).count();
        let mut merge = ltt_read::Merge::new(&traces);
        let asked =
            std::iter::from_fn(|| merge.next_where(|e| filters.matches(e)).map(drop)).count();
        match (read, asked) == (expected, expected) {
            true => Ok(()),
            false => Err(format!("{name}: {text}: {read} and {asked}, not {expected}")),
        }
    };
    cases.iter().filter_map(|case| count(case).err()).collect()
}

#[test]
fn counts_agree_with_the_reference_text() {
    if !shared().join("traces/ctf").is_dir() {
        return eprintln!("SKIPPED: there is no {}", shared().display());
    }
    let mut wrong = Vec::new();
    for (name, cases) in TRACES {
        let path = shared().join(format!("expected/ctf/{name}.all.txt.gz"));
        let file = std::fs::File::open(&path).expect("the reference text");
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(file).read_to_end(&mut text).expect("sound text");
        let lines = lines(&text);
        // Filters that all or no events pass show little: most pass some events.
        let telling = |(_, means): &&Case| {
            let passed = lines.iter().filter(|line| means(line)).count();
            passed > 0 && passed < lines.len()
        };
        assert!(cases.iter().filter(telling).count() * 10 >= cases.len() * 8, "{name}");
        wrong.extend(differences(name, cases, &lines));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares the counts with the output of the installed program, in case the reference
/// text is wrong.
#[test]
fn counts_agree_with_the_program() {
    if !shared().join("traces/ctf").is_dir() {
        return eprintln!("SKIPPED: there is no {}", shared().display());
    }
    let (name, cases) = TRACES[1];
    let options = ["--clock-seconds", "--no-delta", "--names=all", "--fields=all"];
    let trace = shared().join("traces/ctf").join(name);
    let run = std::process::Command::new("babeltrace2").arg(trace).args(options).output();
    let Ok(output) = run else { return eprintln!("SKIPPED: babeltrace2 is not installed") };
    let wrong = differences(name, cases, &lines(&output.stdout));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
