//! The format of results by the extension of `-o`, and options without an effect: never a file that
//! is not what its name says, and never an option that is ignored.

use std::fs;

use crate::support::convert::{kernel, run};

#[test]
fn the_extension_of_the_output_is_its_format() {
    let folder = tempfile::tempdir().unwrap();
    let trace = kernel();
    let trace = trace.to_str().unwrap();
    let written = |args: &[&str], name: &str| {
        let path = folder.path().join(name);
        let done = run(&[args, &[trace, "-o", path.to_str().unwrap()]].concat());
        (done, fs::read_to_string(&path).ok())
    };
    let table = ["stats", "--table", "cpus"];
    for args in [&["dump"][..], &table, &["info", "--table", "traces"]] {
        let (done, text) = written(args, "a.csv");
        assert_eq!(done.status, Some(0), "{args:?}: {done:?}");
        let text = text.unwrap();
        let header = text.lines().next().unwrap();
        assert!(header.contains(',') && !header.contains(' '), "{args:?}: {header}");
        let (done, text) = written(args, "a.json");
        assert_eq!(done.status, Some(0), "{args:?}: {done:?}");
        let first = text.unwrap().chars().next();
        assert!(matches!(first, Some('{' | '[')), "{args:?}: {first:?}");
        // Other names say nothing.
        for name in ["a.txt", "a", "a.csv.old"] {
            let (done, _) = written(args, name);
            assert_eq!(done.status, Some(0), "{args:?}: {done:?}");
        }
        for (more, name) in [
            (&["--format", "json"][..], "b.csv"),
            (&["--format", "text"], "b.json"),
            (&[], "b.svg"),
        ] {
            let (done, text) = written(&[args, more].concat(), name);
            assert_eq!((done.status, text), (Some(2), None), "{args:?}: {done:?}");
        }
    }
    let (done, text) = written(&["convert"], "c.json");
    assert_eq!(done.status, Some(0), "{done:?}");
    assert!(text.unwrap().contains("\"traceEvents\""));
    for (more, name) in [(&["--to", "ctf2"][..], "d.json"), (&[], "d.csv")] {
        let (done, _) = written(&[&["convert"], more].concat(), name);
        assert_eq!(done.status, Some(2), "{name}: {done:?}");
        assert!(!folder.path().join(name).exists());
    }
    let (done, _) = written(&["chart", "flow", "--format", "svg"], "e.html");
    assert_eq!(done.status, Some(2), "{done:?}");
}

#[test]
fn an_option_without_an_effect_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    let trace = kernel();
    let paths = [trace.to_str().unwrap(), "-o", output.to_str().unwrap()];
    let done = run(&[&["convert", "--with-statedump"], &paths[..]].concat());
    assert_eq!(done.status, Some(2), "{done:?}");
    for command in ["wait", "critical-path", "usage", "disk", "calls", "compare"] {
        let help = run(&[command, "--help"]);
        let text = String::from_utf8_lossy(&help.stdout).into_owned();
        assert!(text.contains("--begin") && !text.contains("--filter"), "{command}: {text}");
        let done = run(&[command, paths[0], "-e", "event.name == \"x\""]);
        assert!(done.status == Some(2) && !done.stderr.is_empty(), "{command}: {done:?}");
    }
}
