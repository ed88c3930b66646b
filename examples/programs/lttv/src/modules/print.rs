//! Printing of results.

use std::cell::RefCell;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lttv_common::escape::Escapes;
use lttv_common::inputs;
use lttv_common::report::Usage;
use lttv_common::table::{self, Table, TextStyle};
use lttv_common::text::Text;
use lttv_common::text::output::{Output, Reader};
use lttv_context::attributes::{self, Attributes, Indented, Kind, Paths};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionError, OptionSpec};
use lttv_hooks::Priority;

use super::json::Json;
use super::{Host, at_end};

/// The module `print`.
#[derive(Debug)]
pub(super) struct Print;

/// The format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// For people: tables, and a tree of the results without a table.
    #[default]
    Text,
    /// One line per value, with its path.
    Paths,
    /// One JSON object of plain values.
    Json,
    /// One JSON object, with the type of each value.
    TypedJson,
}

impl Style {
    /// Returns `true` for a JSON object.
    pub fn is_json(self) -> bool {
        matches!(self, Style::Json | Style::TypedJson)
    }
}

impl Module<Host> for Print {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "print",
            summary: "Choose the destination and format of results",
            description: "Prints the results of the modules: as tables and an indented tree, or \
                          all as paths or JSON, for other programs to read. In JSON a tree is an \
                          object, [N] names its member of number N, times and durations are in \
                          ns, and integers have all their digits, also beyond 2^53. NaN and \
                          infinities are the texts nan, inf and -inf.",
            requires: &["core"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let output = "Write to a file instead of standard output";
        vec![
            OptionSpec::new("output", Kind::Text, output).short('o').value_name("FILE"),
            OptionSpec::flag("path-output", "Print results as one line per value, with its path")
                .short('a'),
            OptionSpec::flag("json", "Print results as one JSON object"),
            OptionSpec::flag("types", "With --json, print each value with its type"),
        ]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let is_set = |option| host.options.is_set(option);
        let (paths, json, types) = (is_set("path-output")?, is_set("json")?, is_set("types")?);
        host.data.style = match (paths, json, types) {
            (true, true, _) => {
                return Err(Usage::new("--path-output and --json cannot be used together").into());
            }
            (_, false, true) => return Err(Usage::new("--types is a part of --json").into()),
            (false, false, false) => Style::Text,
            (true, false, false) => Style::Paths,
            (false, true, false) => Style::Json,
            (false, true, true) => Style::TypedJson,
        };
        if let Some(path) = host.options.get::<attributes::Text>("output")? {
            let path = Path::new(&**path);
            inputs::refuse(
                path,
                host.data.batch.context.traceset().traces(),
                &files_of_modules(host)?,
            )?;
            let output = Output::new(Some(path))?.escaping(Escapes::Text);
            host.data.output = Rc::new(RefCell::new(output));
        }
        if json {
            host.data.output.borrow_mut().set_escapes(Escapes::Json);
        }
        at_end(host, Priority::LAST, print);
        Ok(())
    }
}

/// Prints the attributes, and flushes the output.
fn print(host: &mut Host) -> Result<(), Box<dyn Error>> {
    let output = &mut *host.data.output.borrow_mut();
    match host.data.lists_events {
        true => after_events(&host.attributes, host.data.style, output.buffer())?,
        false => write(&host.attributes, host.data.style, output)?,
    }
    // A closed pipe is no error: its reader needs no more output.
    let (Reader::There | Reader::Gone) = output.flush()?;
    Ok(())
}

/// Appends tables to the output.
pub(super) fn tables(output: &mut Output, style: &TextStyle, tables: &[Table]) {
    let mut text = Vec::new();
    // Writing to a list never fails.
    _ = table::write(&mut text, table::Format::Text, style, tables);
    output.buffer().append(&text);
}

/// Returns the files that other modules read.
fn files_of_modules(host: &Host) -> Result<Vec<PathBuf>, Failure> {
    match host.options.all::<attributes::Text>("filename") {
        Ok(given) => Ok(given.iter().map(|path| PathBuf::from(&***path)).collect()),
        // The module that declares the option was not loaded.
        Err(OptionError::Unknown { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn write(attributes: &Attributes, style: Style, output: &mut Output) -> Result<(), Box<dyn Error>> {
    let out = output.buffer();
    match style {
        _ if attributes.is_empty() => {}
        Style::Text => write!(out, "{}", Indented(attributes))?,
        Style::Paths => write!(out, "{}", Paths(attributes))?,
        Style::Json => json(out, &Json::plain(attributes))?,
        Style::TypedJson => json(out, &Json::with_kinds(attributes))?,
    }
    Ok(())
}

/// Writes the rest of the object whose first member is the list of events.
fn after_events(attributes: &Attributes, style: Style, out: &mut Text) -> serde_json::Result<()> {
    if attributes.is_empty() {
        out.append(b"}\n");
        return Ok(());
    }
    let mut results = Text::default();
    match style {
        Style::TypedJson => json(&mut results, &Json::with_kinds(attributes))?,
        _ => json(&mut results, &Json::plain(attributes))?,
    }
    out.push(b',');
    out.append(results.as_bytes().strip_prefix(b"{").unwrap_or_default());
    Ok(())
}

fn json(out: &mut Text, value: &impl serde::Serialize) -> serde_json::Result<()> {
    out.append(&serde_json::to_vec_pretty(value)?);
    out.push(b'\n');
    Ok(())
}
