//! Tests the command line of `lttv dump`.

use crate::support;
use std::path::Path;
use std::time::Duration;

use crate::support::Run;
use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};

/// The bundled kernel trace.
const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

fn dump(args: &[&str], trace: &Path) -> Run {
    support::dump(args, Some(trace), Duration::from_secs(60))
}

#[test]
fn help_and_wrong_options() {
    let help = dump(&["--help"], KERNEL.as_ref());
    assert_eq!(help.status, Some(0));
    let text = String::from_utf8(help.stdout).unwrap();
    for option in ["--timerange", "--names", "trace:hostname", "Exit status", "--count"] {
        assert!(text.contains(option), "{option}");
    }
    for wrong in [
        &["--begin", "3:2:8"][..],
        &["--names=nothing"],
        &["--timerange=1,2", "--begin=1"],
        &["--format=xml"],
    ] {
        let run = dump(wrong, KERNEL.as_ref());
        assert_eq!(run.status, Some(2), "{wrong:?}");
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{wrong:?}");
    }
}

/// Options that select nothing say so, as filters do.
#[test]
fn an_option_that_selects_no_event_is_noted() {
    let noted = [
        ("--cpu=99", "lttv: no event passes `cpu == 99`\n"),
        ("--name=nosuch", "lttv: no event passes `name =~ \"nosuch\"`\n"),
    ];
    for (option, note) in noted {
        let run = dump(&[option], KERNEL.as_ref());
        assert_eq!((run.status, &*run.stdout), (Some(0), &b""[..]), "{option}: {}", run.stderr);
        assert_eq!(run.stderr, note, "{option}");
    }
    for option in ["--cpu=0", "--cpu=0,99", "--name=sched_*"] {
        let run = dump(&["--count", option], KERNEL.as_ref());
        assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{option}");
    }
}

/// A filter that never or always matches is used, and noted on standard error.
#[test]
fn a_filter_that_decides_nothing_is_noted() {
    let filter = |text| dump(&["--count", "--filter", text], KERNEL.as_ref());
    let none = filter("next_tid == 3000000000");
    assert_eq!((none.status, &*none.stdout), (Some(0), &b"0\n"[..]));
    assert_eq!(
        none.stderr,
        "note: nothing passes this filter\n  |\n1 | next_tid == 3000000000\n  \
         | ^^^^^^^^^^^^^^^^^^^^^^ `next_tid` holds integers from -2147483648 to 2147483647\n"
    );
    let all = filter("event.name =~ \"*\"");
    assert_eq!((all.status, &*all.stdout), (Some(0), &b"6087\n"[..]));
    assert!(all.stderr.starts_with("note: everything passes this filter\n"), "{}", all.stderr);
    let some = filter("next_tid == 0");
    assert_eq!((some.status, &*some.stderr), (Some(0), ""));
}

/// Some fields cannot contain the number, others can.
#[test]
fn numbers_beyond_the_limits_of_a_field_are_compared() {
    let count = |text| {
        let run = dump(&["--count", "--filter", text], KERNEL.as_ref());
        assert_eq!(run.status, Some(0), "{text}: {}", run.stderr);
        String::from_utf8(run.stdout).unwrap().trim().parse::<u32>().unwrap()
    };
    let all = count("exists(ret)");
    assert_eq!(all, 1108);
    for text in ["ret < 9223372036854775808", "ret > -9223372036854775809", "ret != 1e30"] {
        assert_eq!(count(text), all, "{text}");
    }
    assert_eq!(count("ret != -1") + count("ret == -1"), all);
    assert_eq!(count("ret > -0.5") + count("ret < -0.5"), all);
    assert_eq!(count("ret in (0, 5.5, 1e30)"), count("ret == 0"));
}

#[test]
fn an_empty_filter_is_an_error() {
    let run = dump(&["--count", "--filter", ""], KERNEL.as_ref());
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("--filter: an expression is empty"), "{}", run.stderr);
    assert!(run.stdout.is_empty());
}

#[test]
fn a_folder_without_traces_is_an_error() {
    let empty = tempfile::tempdir().unwrap();
    for path in [empty.path(), &empty.path().join("missing")] {
        let run = dump(&[], path);
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stderr.contains(&*path.to_string_lossy()), "{run:?}");
        assert!(run.stdout.is_empty());
    }
}

/// Writes a trace of two CPUs; the clock of one goes back.
fn trace_with_a_step_back(path: &Path) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let channel = StreamClassId(0);
    let payload = FieldClass::structure([("value", FieldClass::uint(8, ByteOrder::Little))]);
    let event = schema.add_event_type(channel, "event", payload);
    let trace = TraceWriter::create(path, schema).unwrap();
    for (name, times) in [("c_0", [10, 400, 900, 950]), ("c_1", [20, 500, 90, 700])] {
        let mut stream = trace.stream(channel, name).unwrap();
        stream.begin_packet(0).unwrap();
        for time in times {
            stream.event(event, time, FieldValue::structure([FieldValue::from(1u8)])).unwrap();
        }
        stream.end_packet(1000).unwrap();
        stream.finish().unwrap();
    }
}

/// Counting reads in another way than printing, in windows too.
#[test]
fn counting_agrees_with_printing() {
    let folder = tempfile::tempdir().unwrap();
    let step_back = folder.path().join("trace");
    trace_with_a_step_back(&step_back);
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    let bundled = ["kernel", "ust", "ust-ctf2", "legacy"].map(|name| bundled.join(name));
    for trace in bundled.iter().chain([&step_back]) {
        let options = ["--format=babeltrace", "--clock-seconds", "--no-delta"];
        let text = String::from_utf8(dump(&options, trace).stdout).unwrap();
        let time = |line: &str| line[1..line.find(']')?].parse::<f64>().is_ok().then_some(());
        let times = text.lines().filter(|line| time(line).is_some());
        let times: Vec<_> = times.map(|line| &line[1..line.find(']').unwrap()]).collect();
        assert!(times.len() >= 8, "{}", trace.display());
        let at = |eighths: usize| times[(times.len() - 1) * eighths / 8];
        let mut windows = vec![vec![]];
        for (begin, end) in [(0, 8), (1, 3), (2, 7), (4, 4), (5, 8)] {
            let (begin, end) = (format!("--begin={}", at(begin)), format!("--end={}", at(end)));
            windows.extend([vec![begin.clone()], vec![end.clone()]]);
            // Where the clock goes back, an end may be before a start, which is refused.
            if begin["--begin=".len()..] <= end["--end=".len()..] {
                windows.push(vec![begin, end]);
            }
        }
        for window in windows {
            let with = |first| {
                let args = [first].into_iter().chain(window.iter().map(String::as_str));
                dump(&args.collect::<Vec<_>>(), trace)
            };
            let (counted, printed) = (with("--count"), with("--format=json"));
            let events = printed.stdout.iter().filter(|byte| **byte == b'\n').count();
            let found = String::from_utf8(counted.stdout).unwrap();
            assert_eq!(found, format!("{events}\n"), "{}, {window:?}", trace.display());
            assert_eq!(counted.stderr, printed.stderr);
            assert_eq!(counted.status, printed.status);
        }
    }
}

#[test]
fn the_context_of_events_is_all_that_is_near_them() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
    let rows = |args: &[&str]| -> Vec<String> {
        let columns = ["dump", "--format=csv", "--columns=time,cpu,name", trace];
        let all = [&columns[..], args].concat();
        let run = support::run(&support::lttv(), &all, None, Duration::from_secs(60));
        assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
        let text = String::from_utf8(run.stdout).expect("UTF-8");
        text.lines().skip(1).map(str::to_owned).collect()
    };
    let time = |row: &String| -> i64 {
        row.split(',').next().and_then(|time| time.parse().ok()).expect("a time")
    };
    let all = rows(&[]);
    let filters = ["event.name == block_rq_complete", "state.tid > 0 && prev_tid > 0"];
    for filter in filters {
        for (text, length) in [("30us", 30_000), ("5ms", 5_000_000)] {
            let found: Vec<i64> = rows(&["-e", filter]).iter().map(time).collect();
            assert!(found.len() > 5, "{filter}");
            let is_near = |row: &&String| found.iter().any(|at| at.abs_diff(time(row)) <= length);
            let expected: Vec<String> = all.iter().filter(is_near).cloned().collect();
            assert_eq!(rows(&["-e", filter, "--context", text]), expected, "{filter} {text}");
        }
    }
    let window = ["--begin=+100ms", "--end=+200ms"];
    let all = rows(&window);
    let found: Vec<i64> =
        rows(&[&window[..], &["-e", filters[0]]].concat()).iter().map(time).collect();
    let is_near = |row: &&String| found.iter().any(|at| at.abs_diff(time(row)) <= 5_000_000);
    let expected: Vec<String> = all.iter().filter(is_near).cloned().collect();
    assert_eq!(rows(&[&window[..], &["-e", filters[0], "--context=5ms"]].concat()), expected);
}
