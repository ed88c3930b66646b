//! The pages of docs/user, and docs/analyses.md: their commands print what they show, and their tables agree with the
//! programs.
//!
//! `UPDATE_USER_DOCS=1 cargo test -p lttv --test user_docs` replaces the outputs in the
//! pages by those of the program. Read the difference before committing it.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::hosts::{Machine, messages, write};
use lttv_common::kernel_trace::USES;
use lttv_state::kernel::needs::{Need, RecordedEvents};
use lttv_traces::{Options, calls_like};

/// Returns the names of the pages, with their texts.
fn pages() -> BTreeMap<PathBuf, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/user");
    let files = fs::read_dir(folder).expect("docs/user").map(|entry| entry.expect("a file").path());
    let analyses = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/analyses.md");
    let files = files.chain([analyses]);
    let pages = files.filter(|path| path.extension().is_some_and(|of| of == "md"));
    pages.map(|path| (path.clone(), fs::read_to_string(path).expect("a page"))).collect()
}

fn page(name: &str) -> String {
    let found = pages().into_iter().find(|(path, _)| path.ends_with(name));
    found.unwrap_or_else(|| panic!("no page {name}")).1
}

/// Returns the lines of the fenced blocks of a language, by block.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<Vec<&'a str>> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if line == format!("```{language}") {
                blocks.push(block);
            }
        }
    }
    blocks
}

/// Runs lines of shell in a folder. Returns what a terminal would show, without blanks at the
/// ends of lines.
fn shell(command: &str, folder: &Path) -> Vec<String> {
    let lttv = support::lttv();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", lttv.parent().expect("a folder").display());
    let cd = format!("cd {} && PATH='{path}' && export COLUMNS=100\n{command}", folder.display());
    let run = support::run(Path::new("sh"), &["-c", &cd], None, Duration::from_secs(60));
    assert!(run.is_orderly(), "{command}: {run:?}");
    let text = String::from_utf8(run.stdout).expect("UTF-8") + &run.stderr;
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// A folder in which the relative paths of the pages exist.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("examples");
    std::os::unix::fs::symlink(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."), link)
        .expect("a link");
    let client = Machine { name: "client", offset: 5_000_000_000, ppb: 0 };
    let server = Machine { name: "server", offset: 7_250_000_000, ppb: 40_000 };
    write(folder.path(), &[client, server], &messages(&[(0, 1)], 400));
    let shop = Options { index: false, mean_gap: 2_000, ..Options::default() };
    calls_like(&folder.path().join("my-shop"), 2, 4_000, &shop).expect("a trace");
    folder
}

/// Returns `true` if the lines are those of a page, where `…` stands for any number of lines.
fn agree(expected: &[String], found: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((line, rest)) if line == "…" => {
            (0..=found.len()).any(|left_out| agree(rest, &found[left_out..]))
        }
        Some((line, rest)) => {
            found.split_first().is_some_and(|(first, others)| first == line && agree(rest, others))
        }
    }
}

/// Returns a page with the output of its commands, and the commands whose output was another.
fn renewed(text: &str) -> (String, Vec<String>) {
    let folder = folder();
    let (mut renewed, mut wrong) = (Vec::new(), Vec::new());
    let mut lines = text.lines().map(str::to_owned).peekable();
    let mut in_block = false;
    while let Some(line) = lines.next() {
        in_block = line == "```console" || (in_block && line != "```");
        let Some(first) = line.strip_prefix("$ ").filter(|_| in_block) else {
            renewed.push(line);
            continue;
        };
        let mut command = first.to_owned();
        renewed.push(line.clone());
        while command.ends_with('\\') {
            let next = lines.next().expect("the rest of the command");
            command = format!("{command}\n{next}");
            renewed.push(next);
        }
        let mut expected = Vec::new();
        while let Some(line) = lines.next_if(|line| line != "```" && !line.starts_with("$ ")) {
            expected.push(line);
        }
        let mut found = shell(&command, folder.path());
        // Tables end with an empty line.
        found.truncate(found.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
        if agree(&expected, &found) {
            renewed.extend(expected);
        } else {
            wrong.push(format!("$ {command}\n{}", found.join("\n")));
            renewed.extend(shortened(found, &expected));
        }
    }
    (renewed.join("\n") + "\n", wrong)
}

/// Returns an output with as many lines at its start and its end as a page shows of it.
fn shortened(mut found: Vec<String>, shown: &[String]) -> Vec<String> {
    let is_gap = |line: &String| line == "…";
    let (Some(first), Some(last)) = (shown.iter().position(is_gap), shown.iter().rposition(is_gap))
    else {
        return found;
    };
    let end = found.len().saturating_sub(shown.len() - last - 1);
    if first < end {
        found.splice(first..end, ["…".to_owned()]);
    }
    found
}

#[test]
fn commands_print_what_the_pages_show() {
    let update = std::env::var_os("UPDATE_USER_DOCS").is_some();
    for (path, text) in pages() {
        let (renewed, wrong) = renewed(&text);
        if update {
            fs::write(&path, renewed).expect("a page");
        }
        let name = path.display();
        assert!(update || wrong.is_empty(), "{name}: the outputs are\n{}", wrong.join("\n"));
    }
}

/// The questions that people ask.
#[test]
fn each_task_has_a_command() {
    let text = page("tasks.md");
    let tasks: Vec<&str> = text.split("\n## ").skip(1).collect();
    assert!(tasks.len() >= 20, "{}", tasks.len());
    for task in tasks {
        let commands = blocks(task, "console").concat();
        assert!(commands.iter().any(|line| line.starts_with("$ lttv ")), "{task}");
    }
}

/// Prepares the places that examples name. Returns the folder, which is also that of the user.
fn places() -> tempfile::TempDir {
    let folder = folder();
    let link = |from: &str, to: &str| {
        let to = folder.path().join(to);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        let from = folder.path().join("examples/traces").join(from);
        std::os::unix::fs::symlink(from, to).expect("a link");
    };
    for session in ["my-session", "my-session-1", "why-slow-1", "usage-1", "latencies-1"] {
        link("kernel", &format!("lttng-traces/{session}"));
    }
    link("kernel", "traces/my-session");
    let calls = folder.path().join("lttng-traces/calls-1");
    std::os::unix::fs::symlink(folder.path().join("my-shop"), calls).expect("a link");
    for file in ["perf.data", "why-slow.data"] {
        link("perf/perf.data", file);
    }
    for file in ["trace.dat", "why-slow.dat"] {
        link("ftrace/trace.dat", file);
    }
    fs::write(folder.path().join("kallsyms"), "ffffffff81000000 T _stext\n").expect("a file");
    for of in ["bash-completion/completions", "man/man1"] {
        fs::create_dir_all(folder.path().join(".local/share").join(of)).expect("a folder");
    }
    for of in [".zfunc", ".config/fish/completions"] {
        fs::create_dir_all(folder.path().join(of)).expect("a folder");
    }
    folder
}

/// The places and numbers in command lines of examples, with those that exist: for lines that contain a part.
const PLACEHOLDERS: [(&str, &str, &str); 9] = [
    ("TRACE…", "TRACE…", "TRACE"),
    // A trace with calls of functions.
    ("chart flame", "TRACE", "my-shop"),
    ("TRACE", "TRACE", "examples/traces/kernel"),
    ("", "14:03:05..14:03:06", "+0.1..+0.2"),
    ("", "+1s..+2s", "+0.1s..+0.2s"),
    ("--tid", "4711", "202"),
    // Traces of the kernel.
    ("chart flow --sync", "client server", "examples/traces/kernel"),
    ("chart flow --sync", "+16.325..+16.40", "+0.1..+0.2"),
    // A recording with the stacks of events.
    ("--of", "perf.data", "trace.dat"),
];

/// The command lines of the README and the pages whose output is not shown run, on the bundled traces. Not those that
/// record, show a terminal or a page, or wait for what is still to come.
#[test]
fn command_lines_of_examples_run() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../README.md"));
    let texts = pages().into_values().chain([readme.expect("the README")]);
    let folder = places();
    let mut run = 0;
    for text in texts {
        for line in blocks(&text, "sh").concat() {
            let waits =
                ["record", "serve", "tui"].iter().any(|of| line.starts_with(&format!("lttv {of}")))
                    || line.contains("net://")
                    || line.contains("--follow");
            if !line.starts_with("lttv ") || waits {
                continue;
            }
            let replaced = PLACEHOLDERS.iter().filter(|(part, ..)| line.contains(part));
            let line = replaced.fold(line.to_owned(), |line, (_, name, by)| line.replace(name, by));
            let home = folder.path().display();
            let said = shell(&format!("HOME='{home}'; {line}\necho \"status $?\""), folder.path());
            assert!(said.iter().any(|said| said == "status 0"), "{line}: {said:?}");
            run += 1;
        }
    }
    assert!(run > 20, "{run}");
}

/// Command lines of examples that are not run have subcommands and options that exist.
#[test]
fn command_lines_have_options_that_exist() {
    let lttv = support::lttv();
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let mut help = |words: &[&str]| {
        let args = [words, &["--help"]].concat();
        let text = || {
            let run = support::run(&lttv, &args, None, Duration::from_secs(60));
            assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
            String::from_utf8(run.stdout).expect("UTF-8")
        };
        helps.entry(words.join(" ")).or_insert_with(text).clone()
    };
    let mut checked = 0;
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../README.md");
    let text = fs::read_to_string(&readme).expect("the README");
    for (path, text) in pages().into_iter().chain([(readme, text)]) {
        // Code in sentences, too.
        let code = text.split('`').filter(|code| code.starts_with("lttv ") && !code.contains('\n'));
        let lines: Vec<&str> = blocks(&text, "sh").concat();
        for line in lines.into_iter().chain(code).filter(|line| line.starts_with("lttv ")) {
            let words: Vec<&str> = line.split_whitespace().skip(1).collect();
            let words = words.split(|word| *word == "#").next().unwrap_or_default();
            let is_name = |word: &&&str| {
                let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
                !word.starts_with('-') && word.chars().all(is_part)
            };
            let depth = if matches!(words.first(), Some(&"chart" | &"history")) { 2 } else { 1 };
            let names: Vec<&str> = words.iter().take(depth).take_while(is_name).copied().collect();
            // Its options are those of another program.
            if names == ["sql"] {
                continue;
            }
            let text = help(&names);
            for option in words.iter().filter(|word| word.starts_with('-')) {
                let option = option.split('=').next().expect("a word");
                let known = |word: &str| word.trim_end_matches(',') == option;
                assert!(
                    text.split_whitespace().any(known) || help(&[]).contains(option),
                    "{}: {line}: {option}",
                    path.display()
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 5, "{checked}");
}

/// The table of needed events is that of the program.
#[test]
fn needed_events_are_those_of_the_commands() {
    let text = page("record.md");
    let row = |command: &str| {
        let name = format!("`lttv {command}`");
        let row = text.lines().find(|line| line.starts_with('|') && line.contains(&name));
        let row = row.unwrap_or_else(|| panic!("no row of {name}"));
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        <[&str; 3]>::try_from(cells).expect("three cells")
    };
    let code = |cell: &str| -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let names = |needs: Vec<&Need>| -> BTreeSet<String> {
        needs.iter().flat_map(|need| need.names()).map(str::to_owned).collect()
    };
    let none = RecordedEvents::default();
    for of in &USES {
        let [_, needs, improves] = row(of.command);
        assert_eq!(code(needs), names(of.missing(&none)), "{}", of.command);
        assert_eq!(code(improves), names(of.useful(&none)), "{}", of.command);
    }
}

/// Each filter of the cookbook finds events in a bundled trace.
#[test]
fn filters_of_the_cookbook_find_events() {
    let text = page("filters.md");
    let (_, table) = text.split_once("| question | filter |\n").expect("the cookbook");
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells: Vec<&str> = rows.map(|row| row.split(" | ").nth(1).expect("two cells")).collect();
    assert!(cells.len() >= 12, "{cells:?}");
    let folder = folder();
    for filter in cells.iter().flat_map(|cell| cell.split('`').skip(1).step_by(2)) {
        let filter = filter.replace("\\|", "|");
        let count = |trace: &str| {
            let command = format!("lttv dump --count -e '{filter}' examples/traces/{trace}");
            shell(&command, folder.path())[0].parse::<u64>().unwrap_or(0)
        };
        assert!(count("kernel") > 0 || count("ust-threads") > 0, "{filter}");
    }
}

/// Links between the pages lead to files and headings that exist.
#[test]
fn links_lead_somewhere() {
    let pages = pages();
    for (path, text) in &pages {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("http") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let to = path.parent().expect("a folder").join(file);
            let to = if file.is_empty() { path.clone() } else { to };
            assert!(to.exists(), "{}: {link}", path.display());
            let anchor = |line: &&str| {
                let title = line.trim_start_matches('#').trim().to_lowercase();
                let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
                kept.collect::<String>().replace(' ', "-") == heading
            };
            let text = fs::read_to_string(&to).unwrap_or_default();
            let found = heading.is_empty() || text.lines().any(|line| anchor(&line));
            assert!(found, "{}: {link}", path.display());
        }
    }
}
