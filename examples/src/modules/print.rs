//! Where results are printed, and how.

use std::cell::RefCell;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lttv_context::attributes::{Attributes, Indented, Kind, Paths, Text};
use lttv_context::modules::{Failure, Module, ModuleInfo};
use lttv_context::options::{OptionError, OptionSpec};
use lttv_hooks::Priority;

use super::{Host, report_with};
use crate::escape::Escapes;
use crate::inputs;
use crate::report::Usage;
use crate::text_dump::output::{Output, Reader};

/// The module `print`.
#[derive(Debug)]
pub(super) struct Print;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Style {
    /// For people: tables, and a tree of what is not in any of them.
    #[default]
    Text,
    /// One line a value, with its path.
    Paths,
    /// One JSON object.
    Json,
}

impl Module<Host> for Print {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "print",
            summary: "Say where results go, and how",
            description: "Prints what the modules found: as tables and as an indented tree, or \
                          all of it as paths or JSON, for other programs to read.",
            requires: &["core"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let output = "Write to a file instead of standard output";
        vec![
            OptionSpec::new("output", Kind::Text, output).short('o').value_name("FILE"),
            OptionSpec::flag("path-output", "Print results as one line a value, with its path")
                .short('a'),
            OptionSpec::flag("json", "Print results as one JSON object"),
        ]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let (paths, json) = (host.options.is_set("path-output")?, host.options.is_set("json")?);
        host.data.style = match (paths, json) {
            (false, false) => Style::Text,
            (true, false) => Style::Paths,
            (false, true) => Style::Json,
            (true, true) => {
                return Err(Usage::new("--path-output and --json exclude each other").into());
            }
        };
        if let Some(path) = host.options.get::<Text>("output")? {
            let path = Path::new(&**path);
            inputs::refuse(path, host.data.batch.context.traceset().traces(), &read_too(host)?)?;
            let output = Output::new(Some(path))?.escaping(Escapes::Text);
            host.data.output = Rc::new(RefCell::new(output));
        }
        if json {
            host.data.output.borrow_mut().set_escapes(Escapes::Json);
        }
        report_with(host, Priority::LAST, print);
        Ok(())
    }
}

/// Prints what is in the attributes, and all that is still to be written.
fn print(host: &mut Host) -> Result<(), Box<dyn Error>> {
    let output = &mut *host.data.output.borrow_mut();
    write(&host.attributes, host.data.style, output)?;
    // Who closes a pipe has read enough.
    let (Reader::There | Reader::Gone) = output.flush()?;
    Ok(())
}

/// Files that other modules read.
fn read_too(host: &Host) -> Result<Vec<PathBuf>, Failure> {
    match host.options.all::<Text>("filename") {
        Ok(given) => Ok(given.iter().map(|path| PathBuf::from(&***path)).collect()),
        // The module that has the option was not loaded.
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
        Style::Json => {
            out.append(&serde_json::to_vec_pretty(attributes)?);
            out.push(b'\n');
        }
    }
    Ok(())
}
