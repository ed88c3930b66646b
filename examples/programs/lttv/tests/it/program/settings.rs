//! The configuration file.

use std::ffi::OsStr;
use std::fs;

use super::{KERNEL, lttv, lttv_with, text};

const FIRST: &[&str] = &["dump", KERNEL, "--timerange", "+0..+0"];

#[test]
fn the_file_sets_colours_times_and_the_zone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let path = file.to_str().unwrap();
    let first = |config: &str, more: &[&str]| {
        fs::write(&file, config).unwrap();
        text(&lttv(&[FIRST, &["--config", path], more].concat()))
    };
    assert!(first("", &[]).starts_with("03:56:56.237946824 "));
    let seconds = first("time-format = \"seconds\"", &[]);
    assert!(seconds.starts_with("1795233416.237946824 "), "{seconds}");
    let berlin = "time-format = \"date\"\ntime-zone = \"Asia/Tokyo\"";
    assert!(first(berlin, &[]).starts_with("2026-11-21 12:56:56.237946824 "));
    assert!(first(berlin, &["--utc"]).starts_with("2026-11-21 03:56:56.237946824 "));
    assert!(first(berlin, &["--clock-seconds"]).starts_with("1795233416.237946824 "));
    // Times in options and filters are in the same zone.
    let filter = ["-e", "event.time >= 12:56:56.237946824 && event.time < 12:56:56.2379469"];
    assert_eq!(first(berlin, &filter).lines().count(), 1);
    let csv = first(berlin, &["--format=csv", "--columns=time"]);
    assert_eq!(csv, "time\n1795233416237946824\n", "numbers stay numbers");
    assert!(first("color = \"always\"", &[]).contains('\x1b'));
    assert!(!first("color = \"always\"", &["--color=never"]).contains('\x1b'));
    assert!(!first("color = \"always\"", &["--color=auto"]).contains('\x1b'));
}

#[test]
fn the_driver_and_charts_follow_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let path = file.to_str().unwrap();
    fs::write(&file, "time-zone = \"Asia/Tokyo\"\n[palette]\nuser = \"#123456\"\n").unwrap();
    let run = |config: [&str; 2], hour: u32| {
        let filter = format!("event.time < {hour:02}:56:56.2379469");
        let begin = format!("--begin={hour:02}:56:56.237946824");
        let modules = ["run", "-m", "textFilter", "-m", "textDump", "-e", &filter, &begin];
        text(&lttv(&[&config[..], &modules, &["-t", KERNEL]].concat()))
    };
    let utc = folder.path().join("utc.toml");
    fs::write(&utc, "time-zone = \"utc\"\n").unwrap();
    let of_utc = run(["--config", utc.to_str().unwrap()], 3);
    assert_eq!(run(["--config", path], 12), of_utc);
    assert!((1..10).contains(&of_utc.lines().count()), "{of_utc}");
    for kind in ["flow", "usage"] {
        let chart = lttv(&["--config", path, "chart", kind, KERNEL]);
        assert!(text(&chart).to_lowercase().contains("#123456"), "{kind}");
    }
}

#[test]
fn the_file_is_found_by_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, format: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("time-format = \"{format}\"")).unwrap();
        path
    };
    write("home/.config/lttv/config.toml", "time");
    write("xdg/lttv/config.toml", "date");
    let own = write("own.toml", "seconds");
    let (home, xdg) = (folder.path().join("home"), folder.path().join("xdg"));
    let (home, xdg) = (("HOME", home.as_os_str()), ("XDG_CONFIG_HOME", xdg.as_os_str()));
    let first = |args: &[&str], variables: &[(&str, &OsStr)]| {
        text(&lttv_with(&[FIRST, args].concat(), variables))
    };
    assert!(first(&[], &[home]).starts_with("03:56:56."));
    assert!(first(&[], &[home, xdg]).starts_with("2026-11-21 03:56:56."));
    let variable = ("LTTV_CONFIG", own.as_os_str());
    assert!(first(&[], &[home, xdg, variable]).starts_with("1795233416."));
    assert!(first(&["--no-config"], &[home, xdg]).starts_with("03:56:56."));
    let date = folder.path().join("xdg/lttv/config.toml");
    let date = date.to_str().unwrap();
    assert!(first(&["--config", date], &[home, variable]).starts_with("2026-11-21 "));
    // Without any file.
    assert!(first(&[], &[("HOME", folder.path().as_os_str())]).starts_with("03:56:56."));
}

/// Its keys are checked before there is a terminal.
#[test]
fn keys_of_the_terminal_program_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let tui = |config: &str| {
        fs::write(&file, config).unwrap();
        lttv(&["tui", KERNEL, "--config", file.to_str().unwrap()])
    };
    let wrong = tui("[keys]\n\nHyper-x = \"q\"");
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("config.toml:3: keys: `Hyper-x` is no key"), "{}", wrong.stderr);
    let sound = tui("[keys]\nF5 = \"Ctrl-L\"");
    assert_eq!(sound.status, Some(1), "{sound:?}");
    assert!(sound.stderr.contains("terminal"), "{}", sound.stderr);
}

#[test]
fn faults_of_the_file_name_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let path = file.to_str().unwrap();
    for (config, expected) in [
        ("\n\ncolour = \"never\"", "config.toml:3: unknown field `colour`"),
        ("time-format = \"tme\"", "config.toml:1: time-format: expected seconds, time, date"),
        ("[palette]\nwait = \"#00\"", "config.toml:2: expected a colour such as \"#019eff\""),
        ("=", "config.toml:1: "),
    ] {
        fs::write(&file, config).unwrap();
        for command in [FIRST, &["run", "-m", "textDump"], &["man"]] {
            let run = lttv(&[&["--config", path], command].concat());
            assert_eq!(run.status, Some(2), "{run:?}");
            assert!(run.stderr.contains(expected), "{}", run.stderr);
            assert!(run.stdout.is_empty(), "{run:?}");
        }
    }
    let run = lttv(&[FIRST, &["--config", "/nowhere"]].concat());
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stderr.starts_with("lttv: error: /nowhere: cannot read"), "{}", run.stderr);
    let both = lttv(&[FIRST, &["--config", path, "--no-config"]].concat());
    assert_eq!(both.status, Some(2), "{both:?}");
}
