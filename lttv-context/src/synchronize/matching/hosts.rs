//! Hosts: the traces that share a clock.

use std::collections::BTreeMap;

use ltt_read::schema::{EnvValue, Schema};
use ltt_read::uuid::Uuid;
use ltt_read::{Trace, TraceIndex};

use crate::synchronize::message::HostIndex;
use crate::traceset::Traceset;

/// A host: a clock, and the traces that were recorded with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Host {
    /// The identity of the clock, which does not depend on the order of traces.
    pub id: String,
    /// The host name in the environment of the first of its traces that has one.
    pub name: Option<String>,
    /// The indices of its traces in the traceset.
    pub traces: Vec<TraceIndex>,
}

/// The hosts of a traceset, ordered by identity.
///
/// # Identity
///
/// Traces are of one host if their clocks have the same identity. This is the first of these that
/// the trace has:
///
/// 1. the UUID of a clock class (in traces of LTTng, the boot id of the machine: kernel and
///    user-space traces of all sessions since it was started share it);
/// 2. the namespace, name and uid of a clock class of CTF 2;
/// 3. the `hostname` of the environment, unless it is empty, `(none)` or `localhost`;
/// 4. the UUID of the trace;
/// 5. the time at which recording started and the state of the clock then, in traces of LTTng 0.x
///    that contain this time: they do not name the machine, so each is a host of its own;
/// 6. the path of the trace.
///
/// [`by`](Self::by) replaces this rule by one of the caller.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_context::synchronize::matching::Hosts;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let hosts = Hosts::of(&traceset);
/// assert_eq!(hosts.all().len(), 1);
/// let named = Hosts::by(&traceset, |trace| trace.path().display().to_string());
/// assert_eq!(named.all()[0].traces.len(), 1);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    hosts: Vec<Host>,
    of_trace: Vec<HostIndex>,
}

impl Hosts {
    /// Finds the hosts of a traceset by the identity of their clocks.
    pub fn of(traceset: &Traceset) -> Self {
        Self::by(traceset, clock_identity)
    }

    /// Finds the hosts of a traceset: traces with the same result of `identity` are of one
    /// host.
    pub fn by(traceset: &Traceset, identity: impl FnMut(&Trace) -> String) -> Self {
        let mut identity = identity;
        let mut traces_of = BTreeMap::<String, Vec<TraceIndex>>::new();
        for (index, trace) in traceset.traces().iter().enumerate() {
            traces_of.entry(identity(trace)).or_default().push(TraceIndex(index));
        }
        let mut of_trace = vec![HostIndex(0); traceset.traces().len()];
        let mut hosts = Vec::new();
        for (number, (id, traces)) in traces_of.into_iter().enumerate() {
            traces.iter().for_each(|trace| of_trace[trace.0] = HostIndex(number));
            let name_of = |trace: &TraceIndex| {
                traceset.traces()[trace.0].schema().env_str("hostname").map(str::to_owned)
            };
            let name = traces.iter().find_map(name_of);
            hosts.push(Host { id, name, traces });
        }
        Hosts { hosts, of_trace }
    }

    /// Returns the hosts, by their index.
    pub fn all(&self) -> &[Host] {
        &self.hosts
    }

    /// Returns the host of a trace; `None` if the traceset has no such trace.
    pub fn of_trace(&self, trace: TraceIndex) -> Option<HostIndex> {
        self.of_trace.get(trace.0).copied()
    }

    /// Finds a host by its identity or, if there is none, by its name.
    pub fn find(&self, text: &str) -> Option<HostIndex> {
        let by_id = self.hosts.iter().position(|host| host.id == text);
        let by_name = || self.hosts.iter().position(|host| host.name.as_deref() == Some(text));
        by_id.or_else(by_name).map(HostIndex)
    }
}

/// Returns the identity of the clock of a trace.
fn clock_identity(trace: &Trace) -> String {
    let schema = trace.schema();
    if let Some(uuid) =
        schema.clocks.iter().filter_map(|clock| clock.uuid).find(|uuid| *uuid != Uuid([0; 16]))
    {
        return uuid.to_string();
    }
    let identities = schema.clocks.iter().map(|clock| &clock.identity);
    if let Some(identity) = identities.into_iter().find(|identity| identity.uid.is_some()) {
        let parts = [&identity.namespace, &identity.name, &identity.uid];
        let parts = parts.map(|part| part.as_deref().unwrap_or_default());
        return format!("clock {}", parts.join("/"));
    }
    let name =
        schema.env_str("hostname").filter(|name| !["", "(none)", "localhost"].contains(name));
    match (name, trace.uuid(), recording_start(schema)) {
        (Some(name), ..) => format!("host {name}"),
        (None, Some(uuid), _) => format!("trace {uuid}"),
        (None, None, Some(start)) => format!("recording {start}"),
        (None, None, None) => format!("path {}", trace.path().display()),
    }
}

/// Returns the start of a recording of LTTng 0.x: its wall-clock time, and the ticks and the
/// frequency of its clock. `None` if the trace does not contain the time.
fn recording_start(schema: &Schema) -> Option<String> {
    let integer = |name| match schema.env(name) {
        Some(EnvValue::Int(value)) => Some(*value),
        _ => None,
    };
    let seconds = integer("start_time_sec").filter(|seconds| *seconds != 0)?;
    let microseconds = integer("start_time_usec")?;
    let (ticks, frequency) = (integer("start_tsc")?, integer("start_freq")?);
    Some(format!("{seconds}.{microseconds:06} {ticks} {frequency}"))
}
