//! The Python package `lttv`: reads, analyses and writes traces.
//!
//! | module | task |
//! |---|---|
//! | `opening`, `trace`, `info` | open traces, and what is known of them |
//! | `selection`, `times` | what a user selects |
//! | `events`, `values` | events as objects, tuples and dictionaries |
//! | `table`, `event_table`, `stream`, `strings`, `cells` | tables, and their streams for consumers of Arrow |
//! | `hosting`, `analyses` | the commands of the program `lttv`, and their tables |
//! | `spans`, `history` | spans as a table, and histories of states |
//! | `write` | writing of traces |
//! | `outside` | calls of other code |
//! | `errors` | exceptions and warnings |

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod analyses;
mod cells;
mod errors;
mod event_table;
mod events;
mod history;
mod hosting;
mod info;
mod opening;
mod outside;
mod selection;
mod spans;
mod stream;
mod strings;
mod table;
mod times;
mod trace;
mod values;
mod write;

use pyo3::prelude::*;

#[pymodule]
mod _lttv {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::time::Duration;

    use lttv_common::follow::FollowArgs;
    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;

    use super::events::{Follow, OnDamage, Reader};
    use super::opening::OpenArgs;
    use super::selection::{Choice, Texts};

    #[pymodule_export]
    use super::errors::{
        DamageWarning, FilterError, LossWarning, OptionError, TraceError, TraceWarning,
    };
    #[pymodule_export]
    use super::events::{Event, Events, Rows};
    #[pymodule_export]
    use super::history::{History, open_history};
    #[pymodule_export]
    use super::info::{Clock, Stream, TraceInfo};
    #[pymodule_export]
    use super::table::{Table, TableBatches};
    #[pymodule_export]
    use super::trace::Trace;
    #[pymodule_export]
    use super::write::{Writer, write_tables};

    /// Opens all traces at or below some paths: CTF, LTTng 0.x, `trace.dat` and `perf.data`.
    ///
    /// With `sync`, the clocks of several machines are related by their messages. `clock_offset` adds an offset to the
    /// times of a machine, and `clock_transform` is a file of `lttv sync --write`. With `access="read"`, files are
    /// read into memory in place of being mapped, for files that other programs truncate.
    ///
    /// >>> trace = lttv.open("examples/traces/kernel")
    /// >>> sum(1 for event in trace)
    /// 6087
    #[pyfunction]
    #[pyo3(signature = (*paths, sync = false, clock_offset = None, clock_transform = None, access = "map"))]
    fn open(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        sync: bool,
        clock_offset: Option<BTreeMap<String, String>>,
        clock_transform: Option<PathBuf>,
        access: &str,
    ) -> PyResult<Trace> {
        if paths.is_empty() {
            return Err(PyValueError::new_err("expected the path of a trace"));
        }
        let clock_offset = clock_offset.unwrap_or_default().into_iter().collect();
        let access = access.to_owned();
        Trace::open(py, OpenArgs { paths, sync, clock_offset, clock_transform, access })
    }

    /// Returns the events of a directory that is being recorded, or of a live session.
    ///
    /// A live session has the address `net://HOST[:PORT]/host/NAME/SESSION`. Iteration waits for events; with
    /// `timeout`, it yields `None` after so many seconds without one. `silence` is the time in seconds after which
    /// the events of other CPUs do not wait for those of a silent one.
    ///
    /// >>> events = lttv.follow("examples/traces/ust-ctf2", timeout=1.0)
    /// >>> next(events).name
    /// 'corp:ints'
    #[pyfunction]
    #[pyo3(signature = (path, events = None, *, r#where = None, timeout = None, silence = 2.0, from_start = false, errors = "warn"))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn follow(
        py: Python<'_>,
        path: PathBuf,
        events: Option<Texts>,
        r#where: Option<Texts>,
        timeout: Option<f64>,
        silence: f64,
        from_start: bool,
        errors: &str,
    ) -> PyResult<Events> {
        let on_damage = OnDamage::named(errors)?;
        let choice = Choice { events, filter: r#where, ..Choice::default() };
        let wait = timeout.map(Duration::try_from_secs_f64).transpose();
        let wait = wait.map_err(|error| PyValueError::new_err(format!("timeout: {error}")))?;
        let args = FollowArgs { follow: true, silence, from_start };
        let follow = Follow::open(py, path, args, choice.expression()?, wait)?;
        Ok(Events::following(Reader::following(follow, on_damage), timeout.is_some()))
    }
}
