//! Open traces.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use ltt_read::TimeSpan;
use ltt_read::schema::{EventTypeId, Scope};
use lttv::commands;
use lttv_arrow::Tables;
use lttv_common::losses::Losses;
use lttv_common::time::Window;
use lttv_context::Traceset;
use lttv_filter::TraceTimes;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::analyses;
use crate::errors::OptionError;
use crate::event_table::{self, EventRows};
use crate::events::{Events, OnDamage, Reader};
use crate::history::History;
use crate::hosting::{self, Failure};
use crate::info::TraceInfo;
use crate::opening::OpenArgs;
use crate::selection::{Choice, Numbers, Texts, quoted};
use crate::spans::{self, SpanRows};
use crate::table::{Table, of_arrow};
use crate::times::{Ns, Time};
use crate::values::type_name;

/// Traces that are open, in one order of time.
#[pyclass(frozen, module = "lttv")]
pub(crate) struct Trace {
    args: OpenArgs,
    traceset: Traceset,
    catalogue: OnceLock<Tables>,
    is_in_order: Arc<OnceLock<bool>>,
}

impl Trace {
    pub(crate) fn open(py: Python<'_>, args: OpenArgs) -> PyResult<Trace> {
        let traceset = args.open(py)?;
        Ok(Trace { args, traceset, catalogue: OnceLock::new(), is_in_order: Arc::default() })
    }

    fn span(&self, py: Python<'_>) -> Option<TimeSpan> {
        py.detach(|| TraceTimes::of(self.traceset.traces()).events())
    }

    fn spans_of(&self, words: Vec<String>) -> PyResult<Table> {
        let args = analyses::parsed(&self.traceset, words)?;
        let periods = commands::spans::periods(&args);
        let periods = periods.map_err(|error| OptionError::new_err(error.to_string()))?;
        let values = spans::values_of(&periods);
        let rows = SpanRows::new(self.traceset.clone(), args, values);
        Ok(Table::new("spans", Arc::new(rows), OnDamage::Warn))
    }

    fn catalogue(&self) -> &Tables {
        self.catalogue.get_or_init(|| Tables::new(&self.traceset))
    }
}

#[pymethods]
impl Trace {
    /// The time of the first event in ns.
    #[getter]
    fn begin(&self, py: Python<'_>) -> Option<Ns> {
        self.span(py).map(|span| Ns::of_traces(span.start, self.traceset.traces()))
    }

    /// The time of the last event in ns.
    #[getter]
    fn end(&self, py: Python<'_>) -> Option<Ns> {
        self.span(py).map(|span| Ns::of_traces(span.end, self.traceset.traces()))
    }

    /// The facts of each trace.
    #[getter]
    fn traces(&self) -> Vec<TraceInfo> {
        self.traceset.traces().iter().map(|trace| TraceInfo::new(Arc::clone(trace))).collect()
    }

    /// The event types: for each name the fields of the payload with their types.
    #[getter]
    fn event_types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let types = PyDict::new(py);
        for trace in self.traceset.traces() {
            for (id, of) in (0..).map(EventTypeId).zip(&trace.schema().event_types) {
                let fields = match types.get_item(of.name())? {
                    Some(known) => known.cast_into::<PyDict>()?,
                    None => PyDict::new(py),
                };
                let payload = trace.schema().root(id, Scope::Payload);
                for member in payload.into_iter().flat_map(|payload| payload.members()) {
                    fields.set_item(&*member.name, type_name(&member.class))?;
                }
                types.set_item(of.name(), fields)?;
            }
        }
        Ok(types)
    }

    /// The losses, which the tracer noted, without a read of the events.
    #[getter]
    fn losses(&self, py: Python<'_>) -> PyResult<Table> {
        let traces = self.traceset.traces();
        let rows = py.detach(|| Losses::of(traces, Window::default()).table(traces));
        let batch = analyses::batch(&rows).map_err(|error| of_arrow(&error))?;
        Ok(Table::stored(Losses::TABLE, batch))
    }

    /// Returns an iterator over the events in order of time.
    ///
    /// `events` are names or patterns of event types, `where` a filter, `begin` and `end` times in ns or as on command
    /// lines, both inclusive. `errors` tells what follows damage: `warn`, `raise` or `ignore`. `progress` is called with the
    /// bytes that were read, and those of all.
    ///
    /// >>> trace = lttv.open("examples/traces/kernel")
    /// >>> event = next(trace.events("sched_*", where="tid == 180", begin="+10ms"))
    /// >>> event.name, event["tid"]
    /// ('sched_switch', 180)
    #[pyo3(signature = (events = None, *, r#where = None, begin = None, end = None, cpu = None, errors = "warn", progress = None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn events(
        &self,
        py: Python<'_>,
        events: Option<Texts>,
        r#where: Option<Texts>,
        begin: Option<Time>,
        end: Option<Time>,
        cpu: Option<Numbers>,
        errors: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Events> {
        let choice = Choice { events, filter: r#where, cpu, begin, end };
        let traces = self.traceset.traces();
        let selection = choice.compile(py, traces)?;
        let on_damage = OnDamage::named(errors)?;
        Ok(Events::new(py.detach(|| Reader::new(traces, selection, on_damage, progress))))
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Events> {
        self.events(py, None, None, None, None, None, "warn", None)
    }

    /// The names of the tables of events.
    #[getter]
    fn table_names(&self) -> Vec<String> {
        self.catalogue().names().to_vec()
    }

    /// Returns the table of an event type, or of all events.
    ///
    /// `columns` are the wanted ones, in their order. With `kernel_state`, there are columns of the thread that runs after
    /// the event. The rows are read when a consumer of Arrow requests them.
    ///
    /// >>> trace = lttv.open("examples/traces/kernel")
    /// >>> trace.table("sched_switch", "cpu", "next_comm", where="next_tid > 0").to_dicts()[0]
    /// {'cpu': 4, 'next_comm': 'lttng-consumerd'}
    #[pyo3(signature = (name = None, *columns, r#where = None, begin = None, end = None, cpu = None, kernel_state = false, errors = "warn"))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn table(
        &self,
        py: Python<'_>,
        name: Option<String>,
        columns: Vec<String>,
        r#where: Option<Texts>,
        begin: Option<Time>,
        end: Option<Time>,
        cpu: Option<Numbers>,
        kernel_state: bool,
        errors: &str,
    ) -> PyResult<Table> {
        let table = match &name {
            None => self.catalogue().all(),
            Some(name) => self.catalogue().of(name).ok_or_else(|| {
                PyKeyError::new_err(format!("no trace has events of type {name}"))
            })?,
        };
        let table = if kernel_state { table.with_kernel_state() } else { table };
        let choice = Choice { events: None, filter: r#where, cpu, begin, end };
        let selection = choice.compile(py, self.traceset.traces())?;
        let rows = EventRows {
            traceset: self.traceset.clone(),
            table: Arc::new(table),
            selection,
            is_in_order: Arc::clone(&self.is_in_order),
        };
        let name = name.unwrap_or_else(|| lttv_arrow::EVENTS.to_owned());
        let table = Table::new(name, Arc::new(rows), OnDamage::named(errors)?);
        if columns.is_empty() { Ok(table) } else { table.selected(&columns) }
    }

    /// Returns the tables of all event types that occur, from one read: they are in memory.
    ///
    /// >>> tables = lttv.open("examples/traces/kernel").tables("irq_handler_*")
    /// >>> {name: len(table) for name, table in tables.items()}
    /// {'irq_handler_entry': 48, 'irq_handler_exit': 48}
    #[pyo3(signature = (events = None, *, r#where = None, begin = None, end = None, cpu = None, errors = "warn"))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn tables<'py>(
        &self,
        py: Python<'py>,
        events: Option<Texts>,
        r#where: Option<Texts>,
        begin: Option<Time>,
        end: Option<Time>,
        cpu: Option<Numbers>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let catalogue = self.catalogue();
        let choice = Choice { events, filter: r#where, cpu, begin, end };
        let selection = choice.compile(py, self.traceset.traces())?;
        let tables = catalogue.names().iter().filter_map(|name| catalogue.of(name)).collect();
        let on_damage = OnDamage::named(errors)?;
        let all = PyDict::new(py);
        let read = event_table::read_tables(py, &self.traceset, tables, &selection, on_damage)?;
        for (name, table) in read {
            all.set_item(name, table)?;
        }
        Ok(all)
    }

    /// Statistics of CPUs, processes, devices and events, as `lttv stats`.
    #[pyo3(signature = (**options))]
    fn statistics<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::stats::run)
    }

    /// Latencies, as `lttv latency`.
    ///
    /// >>> trace = lttv.open("examples/traces/kernel")
    /// >>> rows = trace.latency(family="syscall")["top"].to_dicts()
    /// >>> len(rows) > 0
    /// True
    #[pyo3(signature = (**options))]
    fn latency<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::latency::run)
    }

    /// Returns the table of single system calls, runs, waits, interrupts and requests, as `lttv spans`.
    ///
    /// >>> trace = lttv.open("examples/traces/kernel")
    /// >>> len(trace.spans(family="syscall", min="10ms")) > 10
    /// True
    #[pyo3(signature = (**options))]
    fn spans(&self, options: Option<&Bound<'_, PyDict>>) -> PyResult<Table> {
        let (words, _) = analyses::words(options)?;
        self.spans_of(words)
    }

    /// Returns the table of periods from events of one type to those of another with equal keys.
    ///
    /// `on` are the fields with equal values in both. The values of the fields in `capture` are columns, `NAME.FIELD`.
    ///
    /// >>> trace = lttv.open("examples/traces/kernel")
    /// >>> softirqs = trace.periods("irq_softirq_entry", "irq_softirq_exit", on=["vec", "tid"])
    /// >>> softirqs.columns[:3]
    /// ['begin', 'end', 'duration']
    #[pyo3(signature = (begin, end, on = None, *, name = "period", capture = None, **options))]
    fn periods(
        &self,
        begin: &str,
        end: &str,
        on: Option<Texts>,
        name: &str,
        capture: Option<Texts>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let (mut words, _) = analyses::words(options)?;
        let event = |name: &str| format!("name =~ {}", quoted(name));
        words.push(format!("--period={name} : {} : {}", event(begin), event(end)));
        let fields = |of: Option<Texts>| of.map(|of| of.into_vec().join(","));
        words.extend(fields(on).map(|fields| format!("--period-key={name} : {fields}")));
        words.extend(fields(capture).map(|fields| format!("--period-captures={name} : {fields}")));
        words.push("--family=period".to_owned());
        self.spans_of(words)
    }

    /// Returns the history of all kernel states. It is read from a file, if there is one, and written to it
    /// otherwise; without a file, it is in memory.
    ///
    /// >>> history = lttv.open("examples/traces/kernel").history()
    /// >>> history.attributes("0/CPUs/*")[:4]
    /// ['0/CPUs/0', '0/CPUs/1', '0/CPUs/2', '0/CPUs/3']
    #[pyo3(signature = (path = None, *, force = false, progress = None))]
    fn history(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        force: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<History> {
        History::build(py, &self.traceset, path, force, progress.as_ref())
    }

    /// Trims, converts or exports the traces, as `lttv convert`. Returns the path of the result.
    ///
    /// >>> import tempfile
    /// >>> trace = lttv.open("examples/traces/kernel")
    /// >>> part = trace.convert(tempfile.mkdtemp() + "/part", to="ctf2", events="sched_switch")
    /// >>> sum(1 for event in lttv.open(part))
    /// 497
    #[pyo3(signature = (output, **options))]
    fn convert(
        &self,
        py: Python<'_>,
        output: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PathBuf> {
        let (mut words, progress) = analyses::words(options)?;
        words.push(format!("--output={}", output.display()));
        let args = analyses::parsed(&self.traceset, words)?;
        hosting::run(py, &self.traceset, progress.as_ref(), move |report| {
            commands::convert::run(&args, report).map_err(Failure::from)
        })?;
        Ok(output)
    }

    /// The times in which threads ran and waited, as `lttv wait`.
    #[pyo3(signature = (**options))]
    fn wait<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::wait::run)
    }

    /// The critical paths of threads: the real causes of their waits, as `lttv critical-path`.
    #[pyo3(signature = (**options))]
    fn critical_path<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::critical_path::run)
    }

    /// The use of CPUs, memory and network, as `lttv usage`.
    #[pyo3(signature = (**options))]
    fn usage<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::usage::run)
    }

    /// The state of CPUs and processes at a time, as `lttv state`.
    #[pyo3(signature = (at, **options))]
    fn state<'py>(
        &self,
        py: Python<'py>,
        at: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let all = options.map_or_else(|| Ok(PyDict::new(py)), |options| options.copy())?;
        all.set_item("at", at)?;
        analyses::run(py, &self.traceset, Some(&all), commands::state::run)
    }

    /// Interrupts, as `lttv irq`.
    #[pyo3(signature = (**options))]
    fn irq<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::irq::run)
    }

    /// Requests to disks, as `lttv disk`.
    #[pyo3(signature = (**options))]
    fn disk<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::disk::run)
    }

    /// Calls, samples of stacks, and heaps, as `lttv calls`.
    #[pyo3(signature = (**options))]
    fn calls<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::calls::run)
    }

    /// Counters over time, as `lttv counters`.
    #[pyo3(signature = (**options))]
    fn counters<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::counters::run)
    }

    /// The relations of the clocks of several machines, as `lttv sync`.
    #[pyo3(signature = (**options))]
    fn sync<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        analyses::run(py, &self.traceset, options, commands::sync::run)
    }

    fn __repr__(&self) -> String {
        let paths: Vec<String> =
            self.args.paths.iter().map(|path| path.display().to_string()).collect();
        format!("<Trace {}: {} traces>", paths.join(", "), self.traceset.traces().len())
    }

    /// Another process opens the traces again.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let OpenArgs { paths, sync, clock_offset, clock_transform, access } = self.args.clone();
        let paths: Vec<PathBuf> =
            paths.iter().map(std::path::absolute).collect::<Result<_, _>>()?;
        let offsets = PyDict::new(py);
        for (host, offset) in clock_offset {
            offsets.set_item(host, offset)?;
        }
        let args = (paths, sync, offsets, clock_transform, access).into_pyobject(py)?;
        Ok((py.import("lttv._reopen")?.getattr("reopen")?, args))
    }
}
