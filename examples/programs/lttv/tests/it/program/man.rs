//! Manual pages, rendered by the formatters that are installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{lttv, text};
use crate::support;

/// Renders a page. Returns the text, or `None` without a formatter.
fn rendered(page: &Path) -> Option<String> {
    let formatters: [(&str, &[&str]); 2] =
        [("mandoc", &["-Tutf8", "-Wwarning"]), ("groff", &["-man", "-Tutf8", "-ww"])];
    for (program, args) in formatters {
        let Ok(output) = Command::new(program).args(args).arg(page).output() else { continue };
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && stderr.is_empty(), "{}: {stderr}", page.display());
        let text = String::from_utf8(output.stdout).unwrap();
        // Without bold type: a letter, a backspace and the letter again; or SGR sequences.
        let mut plain = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\u{8}' => drop(plain.pop()),
                '\u{1b}' => drop(chars.by_ref().find(|c| c.is_ascii_alphabetic())),
                c => plain.push(c),
            }
        }
        return Some(plain);
    }
    support::print_note("SKIPPED: there is neither mandoc nor groff here");
    None
}

#[test]
fn there_is_a_page_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("man1");
    let run = lttv(&["man", dir.to_str().unwrap()]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let mut names: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for expected in ["lttv.1", "lttv-dump.1", "lttv-run.1", "lttv-completions.1", "lttv-man.1"] {
        assert!(names.iter().any(|name| name == expected), "{expected}: {names:?}");
    }
    assert!(run.stderr.contains(&format!("{} pages", names.len())), "{}", run.stderr);
    for name in &names {
        let page = fs::read_to_string(dir.join(name)).unwrap();
        assert!(page.is_ascii(), "{name}");
        let Some(text) = rendered(&dir.join(name)) else { return };
        let title = name.strip_suffix(".1").unwrap();
        assert!(text.starts_with(&format!("{title}(1)")), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("{title} - ")), "{text}");
        assert!(text.contains("SYNOPSIS") && text.contains("Examples:"), "{name}: {text}");
    }
    let text = rendered(&dir.join("lttv-dump.1")).unwrap();
    // Lines of the help stay as they are.
    assert!(text.contains("+TIME, -TIME                     after the first, before"), "{text}");
    assert!(text.contains("\\n, \\x1b, \\u{202e}"), "{text}");
    assert!(text.contains("--columns <NAME,…>"), "{text}");
}

#[test]
fn without_a_folder_the_page_of_the_program_is_printed() {
    let page = text(&lttv(&["man"]));
    assert!(page.contains(".TH lttv 1"), "{page}");
    assert!(page.contains("lttv\\-dump(1)"), "{page}");
    let run = lttv(&["man", "/dev/null/nowhere"]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stderr.contains("/dev/null/nowhere"), "{}", run.stderr);
}
