//! Writes what each crate makes public to `docs/api`, one item a line, so that a
//! change of it is seen. With `--check` it writes nothing, and fails if there is a
//! difference. Run it at the root of the repository.

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

const CRATES: [&str; 6] =
    ["ltt-read", "lttv-hooks", "lttv-context", "lttv-filter", "lttv-state", "lttv-requests"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let check = std::env::args().any(|argument| argument == "--check");
    let mut same = true;
    for name in CRATES {
        let (file, now) = (format!("docs/api/{name}.txt"), list(name)?);
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        if before == now {
            continue;
        }
        if check {
            same = false;
            println!("{file} is not what {name} makes public now:");
            print_difference(&before, &now);
        } else {
            std::fs::write(&file, now)?;
        }
    }
    if !same {
        println!("If this is meant, run: cargo run --manifest-path .ci/public_api/Cargo.toml");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// What a crate makes public with all its features.
fn list(name: &str) -> Result<String, Box<dyn Error>> {
    let status = Command::new("cargo")
        .args(["rustdoc", "--quiet", "--lib", "--all-features", "--target-dir", "target/api", "-p"])
        .args([
            name,
            "--",
            "-Z",
            "unstable-options",
            "--output-format",
            "json",
            "--cap-lints=allow",
        ])
        .env("RUSTC_BOOTSTRAP", "1") // the output as JSON is not stable yet
        .env_remove("RUSTDOCFLAGS")
        .status()?;
    if !status.success() {
        return Err(format!("rustdoc failed for {name}").into());
    }
    let json = format!("target/api/doc/{}.json", name.replace('-', "_"));
    let api = public_api::Builder::from_rustdoc_json(Path::new(&json))
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    let lines: Vec<String> = api.items().map(|item| item.to_string()).collect();
    Ok(one_line_each(&lines, &name.replace('-', "_")))
}

/// Keeps one line for each item. An implementation of a trait is one item: its methods and
/// types are those of the trait. An inherent `impl` block is no item.
fn one_line_each(lines: &[String], crate_name: &str) -> String {
    let (mut text, mut is_in_impl) = (String::new(), false);
    for line in lines {
        if line.starts_with("impl") {
            is_in_impl = line.contains(" for ");
            if !is_in_impl || text.lines().any(|known| known == line) {
                continue;
            }
        } else if is_in_impl && is_associated(line, crate_name) {
            continue;
        } else {
            is_in_impl = false;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Returns `true` if a line is a function, type or constant of a type, and not of a module.
fn is_associated(line: &str, crate_name: &str) -> bool {
    let Some(rest) = line.strip_prefix("pub ") else { return false };
    let rest = rest.trim_start_matches("unsafe ");
    let Some(path) =
        ["fn ", "const fn ", "type ", "const "].iter().find_map(|kind| rest.strip_prefix(kind))
    else {
        return false;
    };
    let end = ["(", " = ", ": "].iter().filter_map(|mark| path.find(mark)).min();
    let path = &path[..end.unwrap_or(path.len())];
    // The steps before the name of an item in a module are in lower case.
    let mut steps: Vec<_> = path[..path.find('<').unwrap_or(path.len())].split("::").collect();
    steps.pop();
    let is_module = |step: &&str| !step.starts_with(|c: char| c.is_ascii_uppercase());
    path.contains(">::") || steps.first() != Some(&crate_name) || !steps.iter().all(is_module)
}

/// Lines of one text that the other has not. (Both are sorted.)
fn print_difference(before: &str, now: &str) {
    let lacks = |text: &str, line: &str| !text.lines().any(|other| other == line);
    for line in before.lines().filter(|line| lacks(now, line)) {
        println!("-{line}");
    }
    for line in now.lines().filter(|line| lacks(before, line)) {
        println!("+{line}");
    }
}
