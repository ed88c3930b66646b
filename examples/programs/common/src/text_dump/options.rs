//! The contents of lines: names and header fields in the text of babeltrace, and the parts in that of LTTV.

/// A group of names, with its spelling in `--names`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum NameGroup {
    /// No names.
    None,
    /// All names.
    All,
    /// Names of payload fields.
    Payload,
    /// Names of the scopes themselves (`event.fields = …`).
    Scope,
    /// Names of the fields before the event name.
    Header,
    /// Names of context fields.
    Context,
}

/// The names that are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    /// Prints the names of payload fields.
    pub payload: bool,
    /// Prints the names of the scopes.
    pub scope: bool,
    /// Prints the names of the fields before the event name.
    pub header: bool,
    /// Prints the names of context fields.
    pub context: bool,
}

impl Names {
    /// Creates the set of exactly these groups; the defaults of babeltrace if there are none.
    pub fn of(groups: &[NameGroup]) -> Self {
        if groups.is_empty() {
            return Names { payload: true, scope: false, header: false, context: true };
        }
        let has = |g| groups.contains(&g) || groups.contains(&NameGroup::All);
        Names {
            payload: has(NameGroup::Payload),
            scope: has(NameGroup::Scope),
            header: has(NameGroup::Header),
            context: has(NameGroup::Context),
        }
    }
}

/// A header field, with its spelling in `--fields`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum HeaderField {
    /// No header field.
    None,
    /// All header fields.
    All,
    /// Host name and path of the trace.
    Trace,
    /// Environment entry `hostname`.
    #[value(name = "trace:hostname")]
    Hostname,
    /// Environment entry `domain`.
    #[value(name = "trace:domain")]
    Domain,
    /// Environment entry `procname`.
    #[value(name = "trace:procname")]
    Procname,
    /// Environment entry `vpid`.
    #[value(name = "trace:vpid")]
    Vpid,
    /// Log level.
    Loglevel,
    /// Eclipse Modeling Framework URI.
    Emf,
    /// Call site: accepted without effect, since no recorded trace has any.
    Callsite,
}

/// The header fields that are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderFields {
    /// Host name and path of the trace.
    pub trace: bool,
    /// Environment entry `hostname`.
    pub hostname: bool,
    /// Environment entry `domain`.
    pub domain: bool,
    /// Environment entry `procname`.
    pub procname: bool,
    /// Environment entry `vpid`.
    pub vpid: bool,
    /// Log level.
    pub loglevel: bool,
    /// Eclipse Modeling Framework URI.
    pub emf: bool,
}

impl HeaderFields {
    /// Creates the set of exactly these fields; the defaults of babeltrace if there are none.
    pub fn of(fields: &[HeaderField]) -> Self {
        use HeaderField::{Domain, Emf, Hostname, Loglevel, Procname, Trace, Vpid};
        let usual = [Hostname, Procname, Vpid];
        let fields = if fields.is_empty() { &usual } else { fields };
        let has = |f| fields.contains(&f) || fields.contains(&HeaderField::All);
        HeaderFields {
            trace: has(Trace),
            hostname: has(Hostname),
            domain: has(Domain),
            procname: has(Procname),
            vpid: has(Vpid),
            loglevel: has(Loglevel),
            emf: has(Emf),
        }
    }
}

/// A choice of contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contexts {
    /// No context.
    None,
    /// All contexts but the thread, its process, its command, the CPU, the host, and what kernels
    /// and perf record with each event. Fields of the payload that perf adds for these are left out,
    /// too.
    BesideThread,
    /// All contexts.
    All,
}

impl Contexts {
    /// Returns `true` if a context of this name is printed.
    pub(super) fn has(self, name: &str) -> bool {
        const THREAD: [&str; 10] = [
            "tid",
            "vtid",
            "pid",
            "vpid",
            "procname",
            "comm",
            "cpu",
            "cpu_id",
            "hostname",
            "identifier",
        ];
        match self {
            Contexts::None => false,
            Contexts::All => true,
            Contexts::BesideThread => !THREAD.contains(&name) && self.has_in_payload(name),
        }
    }

    /// Returns `true` if a member of the payload with this name is printed.
    pub(super) fn has_in_payload(self, name: &str) -> bool {
        const ADDED: [&str; 5] = ["perf_tid", "perf_pid", "perf_comm", "perf_cpu", "perf_time"];
        self != Contexts::BesideThread || !ADDED.contains(&name) && !name.starts_with("common_")
    }
}

/// The options of lines in LTTV's `textDump`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineOptions {
    /// Prints names before the values of fields.
    pub field_names: bool,
    /// The contexts that are printed, before the fields.
    pub contexts: Contexts,
    /// Prints the process that runs after the event: pid, thread group, name, brand, parent,
    /// function and mode, for all kernel traces. Lines of legacy traces always contain it.
    pub process: bool,
    /// Prints the status of the process after its mode, in lines that contain the process.
    pub process_state: bool,
}

impl Default for LineOptions {
    fn default() -> Self {
        LineOptions {
            field_names: true,
            contexts: Contexts::All,
            process: false,
            process_state: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_replace_the_defaults() {
        let usual = Names::of(&[]);
        assert!(usual.payload && usual.context && !usual.scope && !usual.header);
        let scope = Names::of(&[NameGroup::Scope]);
        assert!(scope.scope && !scope.payload);
        assert!(!Names::of(&[NameGroup::None]).payload);
        assert!(HeaderFields::of(&[]).hostname && !HeaderFields::of(&[]).trace);
        assert!(!HeaderFields::of(&[HeaderField::Trace]).hostname);
        assert!(HeaderFields::of(&[HeaderField::All]).emf);
    }
}
