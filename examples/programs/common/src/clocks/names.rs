//! Names of hosts: for people, and as users give them.

use std::path::Path;

use lttv_context::Traceset;
use lttv_context::synchronize::HostIndex;
use lttv_context::synchronize::matching::{Host, Hosts};

use crate::escape;
use crate::report::Usage;

/// Returns the name of a host in messages and tables: its own name if no other host has it, and
/// its identity otherwise. Control characters are escaped.
pub fn label(hosts: &Hosts, index: HostIndex) -> String {
    let Some(host) = hosts.all().get(index.0) else { return String::new() };
    let is_only = |name: &&String| {
        hosts.all().iter().filter(|other| other.name.as_ref() == Some(name)).count() == 1
    };
    let text = host.name.as_ref().filter(|name| !name.is_empty()).filter(is_only);
    escape::name(text.unwrap_or(&host.id)).into_owned()
}

/// Returns the [names](label) of all hosts, by index.
pub fn labels(hosts: &Hosts) -> Vec<String> {
    (0..hosts.all().len()).map(|index| label(hosts, HostIndex(index))).collect()
}

/// Finds the host that a user means by its identity, its name, or a path or the name of a
/// directory of its traces. The first of these that any host has is used. A directory may also be
/// one that contains the traces.
///
/// # Errors
///
/// If there is no such host, or more than one: the error names `option`, and lists the hosts.
pub fn find_host(
    option: &str,
    text: &str,
    hosts: &Hosts,
    traceset: &Traceset,
) -> Result<HostIndex, Usage> {
    let with = |is_meant: &dyn Fn(&Host) -> bool| -> Vec<HostIndex> {
        let all = hosts.all().iter().enumerate();
        all.filter(|(_, host)| is_meant(host)).map(|(index, _)| HostIndex(index)).collect()
    };
    let of_path = |is_meant: &dyn Fn(&Path) -> bool| {
        with(&|host| {
            let traces = host.traces.iter().filter_map(|trace| traceset.traces().get(trace.0));
            traces.flat_map(|trace| trace.paths()).any(|path| is_meant(path))
        })
    };
    let given = Path::new(text);
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let rules: [&dyn Fn() -> Vec<HostIndex>; 4] = [
        &|| with(&|host| host.id == text),
        &|| with(&|host| host.name.as_deref() == Some(text)),
        &|| {
            let given = whole(given);
            of_path(&|path| whole(path).starts_with(&given))
        },
        &|| of_path(&|path| is_part(path, given)),
    ];
    let found = rules.iter().map(|rule| rule()).find(|found| !found.is_empty()).unwrap_or_default();
    let shown = escape::name(text);
    match *found {
        [host] => Ok(host),
        [] => Err(Usage::new(format_args!(
            "{option}: no host or trace is called `{shown}`; there are:{}",
            list(hosts, traceset, |_| true)
        ))),
        _ => Err(Usage::new(format_args!(
            "{option}: `{shown}` is the name of several hosts:{}",
            list(hosts, traceset, |index| found.contains(&index))
        ))),
    }
}

/// Returns `true` if consecutive components of a path are those of a name.
fn is_part(path: &Path, name: &Path) -> bool {
    let name: Vec<_> = name.components().collect();
    let path: Vec<_> = path.components().collect();
    !name.is_empty() && path.windows(name.len()).any(|part| part == name)
}

/// Returns a line for each host, with its names.
fn list(hosts: &Hosts, traceset: &Traceset, wanted: impl Fn(HostIndex) -> bool) -> String {
    let mut text = String::new();
    for (_, host) in hosts.all().iter().enumerate().filter(|(at, _)| wanted(HostIndex(*at))) {
        let name = host.name.as_deref().unwrap_or("(no name)");
        text += &format!("\n  {} {}", escape::name(name), escape::name(&host.id));
        for path in host.traces.iter().filter_map(|trace| traceset.traces().get(trace.0)) {
            text += &format!("\n    {}", escape::name(&path.path().to_string_lossy()));
        }
    }
    text
}
