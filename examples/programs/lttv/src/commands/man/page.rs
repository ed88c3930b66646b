//! One manual page.

use std::fmt::Write;
use std::io;

use clap::Command;
use clap_mangen::Man;

/// Returns the name of the page of a command, such as `lttv-dump`.
pub(super) fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Returns the page of a command that has been built.
pub(super) fn of(command: &Command) -> io::Result<String> {
    let name = name(command).to_owned();
    // The title has the name with hyphens, as `man` is called.
    let man = Man::new(command.clone().name(name));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut page = String::from_utf8_lossy(&page).into_owned();
    let after = command.get_after_long_help().or_else(|| command.get_after_help());
    if let Some(after) = after {
        page += ".SH NOTES\n.nf\n";
        after.to_string().lines().for_each(|line| push_line(&mut page, line));
        page += ".fi\n";
    }
    Ok(ascii(&page))
}

/// Appends a line of text as it is.
fn push_line(page: &mut String, line: &str) {
    // A dot or an apostrophe would start a request.
    if line.starts_with(['.', '\'']) {
        *page += "\\&";
    }
    for c in line.chars() {
        match c {
            '\\' => *page += "\\e",
            '-' => *page += "\\-",
            '\'' => *page += "\\(aq",
            c => page.push(c),
        }
    }
    page.push('\n');
}

/// Returns the page with escapes in place of characters beyond ASCII, which not every formatter
/// reads.
fn ascii(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for c in page.chars() {
        match c.is_ascii() {
            true => text.push(c),
            // Writing to a string never fails.
            false => _ = write!(text, "\\[u{:04X}]", u32::from(c)),
        }
    }
    text
}
