//! Modules whose results are tables.

use std::error::Error;
use std::fmt;

use lttv_common::table::{Cell, Table};
use lttv_context::attributes::{AttributeError, AttributeId, AttributeValue, Attributes};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_hooks::Priority;

use super::print::Style;
use super::{Host, at_end};

/// A function that returns the tables of an analysis after the read.
pub type Tables = Box<dyn Fn(&mut Host) -> Result<Vec<Table>, Box<dyn Error>>>;

/// A function that adds an analysis to the read. It returns `None` if the traces lack what the
/// analysis needs, and it has reported that.
type Attach = Box<dyn Fn(&mut Host) -> Result<Option<Tables>, Failure>>;

/// A module that adds an analysis to the read of the traces, and whose results are tables.
///
/// For people the tables are printed; those without rows are left out, unless none has rows.
/// For programs, each cell becomes the attribute `MODULE/TABLE/[ROW]/COLUMN`, with the keys of the
/// table and the column. Times and durations are integers in ns, as in the tables as JSON. A cell
/// without a value has no attribute.
///
/// ```
/// use lttv::modules::AnalysisModule;
/// use lttv_common::table::Table;
/// use lttv_context::framework::ModuleInfo;
///
/// let info = ModuleInfo {
///     name: "traceCount",
///     summary: "The number of traces",
///     description: "Reports how many traces are read together.",
///     requires: &["batchAnalysis"],
/// };
/// let module = AnalysisModule::new(info, |host| {
///     let traces = host.data.batch.context.traceset().traces().len();
///     Ok(Some(Box::new(move |_| {
///         Ok(vec![Table::of("traces", "Traces", &[traces]).count("count", "COUNT", |of| *of).build()])
///     })))
/// });
/// # _ = module;
/// ```
pub struct AnalysisModule {
    info: ModuleInfo,
    options: Vec<OptionSpec>,
    attach: Attach,
}

impl AnalysisModule {
    /// Creates a module. `attach` adds the analysis to the read, and returns the function that is
    /// called for the tables after it.
    pub fn new(
        info: ModuleInfo,
        attach: impl Fn(&mut Host) -> Result<Option<Tables>, Failure> + 'static,
    ) -> Self {
        AnalysisModule { info, options: Vec::new(), attach: Box::new(attach) }
    }

    /// Adds options.
    #[must_use]
    pub fn with_options(mut self, options: impl IntoIterator<Item = OptionSpec>) -> Self {
        self.options.extend(options);
        self
    }
}

impl Module<Host> for AnalysisModule {
    fn info(&self) -> ModuleInfo {
        self.info
    }

    fn options(&self) -> Vec<OptionSpec> {
        self.options.clone()
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let Some(tables) = (self.attach)(host)? else { return Ok(()) };
        let name = self.info.name;
        at_end(host, Priority::DEFAULT, move |host| -> Result<(), Box<dyn Error>> {
            let mut tables = tables(host)?;
            if host.data.style != Style::Text {
                return Ok(export(&mut host.attributes, name, &tables)?);
            }
            if tables.iter().any(|table| !table.is_empty()) {
                tables.retain(|table| !table.is_empty());
            }
            host.data.print(&tables);
            Ok(())
        });
        Ok(())
    }
}

impl fmt::Debug for AnalysisModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnalysisModule").field("info", &self.info).finish_non_exhaustive()
    }
}

/// Sets an attribute for each cell.
fn export(of: &mut Attributes, module: &str, tables: &[Table]) -> Result<(), AttributeError> {
    let module = of.subtree(AttributeId::ROOT, module)?;
    for table in tables {
        let rows = of.subtree(module, table.key())?;
        for (number, cells) in (0_u64..).zip(table.rows()) {
            let row = of.subtree(rows, number)?;
            for (column, cell) in table.columns().zip(cells) {
                if let Some(value) = value(cell) {
                    of.set(row, column, value)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the value of a cell; `None` if it has none.
fn value(cell: &Cell) -> Option<AttributeValue<'_>> {
    Some(match cell {
        Cell::Empty => return None,
        Cell::Text(text) => text.as_str().into(),
        Cell::Number(number) => (*number).into(),
        Cell::Time(time) => time.as_ns().into(),
        Cell::Duration(ns) => (*ns).into(),
        Cell::Integer(number) | Cell::Difference(number) => match u64::try_from(*number) {
            Ok(number) => number.into(),
            // Cells are made of integers and differences of 64 bits.
            Err(_) => i64::try_from(*number).unwrap_or(i64::MIN).into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use ltt_read::Timestamp;
    use lttv_common::table::difference;

    use super::*;

    #[test]
    fn cells_become_attributes() {
        let rows = [(3_u32, Some("é"), Some(7_u64), -5_i64), (4, None, None, i64::MIN)];
        let table = Table::of("things", "Things", &rows)
            .integer("cpu", "CPU", |row| row.0)
            .text("name", "NAME", |row| row.1)
            .duration("busy_ns", "BUSY", |row| row.2)
            .percent("percent", "%", |row| row.2.map(|of| of as f64 / 2.0))
            .time("begin_ns", "BEGIN", |row| Timestamp::from_ns(row.3))
            .difference("change_ns", "DURATION", |row| difference(row.0.into(), 3))
            .build();
        let none = Table::of("none", "None", &rows[..0]).integer("cpu", "CPU", |row| row.0).build();
        let mut of = Attributes::new();
        export(&mut of, "module", &[table, none]).unwrap();
        let paths = lttv_context::attributes::Paths(&of).to_string();
        let expected = "\
            /module/things/[0]/cpu: 3\n/module/things/[0]/name: \"é\"\n\
            /module/things/[0]/busy_ns: 7\n/module/things/[0]/percent: 3.5\n\
            /module/things/[0]/begin_ns: -5\n/module/things/[0]/change_ns: 0\n\
            /module/things/[1]/cpu: 4\n\
            /module/things/[1]/begin_ns: -9223372036854775808\n\
            /module/things/[1]/change_ns: -1\n";
        assert_eq!(paths, expected);
    }
}
