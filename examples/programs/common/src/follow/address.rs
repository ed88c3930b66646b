//! Addresses of live sessions, as babeltrace2 spells them.

use std::path::Path;

use ltt_read::live::DEFAULT_PORT;

/// The address of a relay daemon, or of one of its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The host and port of the relay daemon.
    pub daemon: String,
    /// The traced host and the name of the session; `None` for a list of all sessions.
    pub session: Option<(String, String)>,
}

impl Address {
    /// Parses `net://HOST[:PORT][/host/NAME/SESSION]`; `None` for the path of a directory.
    ///
    /// # Errors
    ///
    /// If it starts like an address and is none. The text describes the fault.
    pub fn parse(path: &Path) -> Option<Result<Address, String>> {
        let text = path.to_string_lossy();
        let rest = ["net://", "net4://", "net6://", "tcp://"].iter();
        let rest = rest.filter_map(|scheme| text.strip_prefix(scheme)).next()?;
        Some(Address::of(rest.trim_end_matches('/')).ok_or_else(|| {
            format!("`{text}` is no address of the form net://HOST[:PORT][/host/NAME/SESSION]")
        }))
    }

    fn of(rest: &str) -> Option<Address> {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        // The last colon of an IPv6 address in brackets may belong to it.
        let has_port = host.rsplit_once(':').is_some_and(|(before, port)| {
            port.parse::<u16>().is_ok() && (!before.contains(':') || before.ends_with(']'))
        });
        let daemon = if has_port { host.to_owned() } else { format!("{host}:{DEFAULT_PORT}") };
        let session = match path.strip_prefix("host/") {
            Some(names) => {
                let (host, session) = names.split_once('/')?;
                let is_name = |name: &str| !name.is_empty() && !name.contains('/');
                (is_name(host) && is_name(session))
                    .then(|| (host.to_owned(), session.to_owned()))?
            }
            None if path.is_empty() && !host.is_empty() => {
                return Some(Address { daemon, session: None });
            }
            None => return None,
        };
        Some(Address { daemon, session: Some(session) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_babeltrace() {
        let parse = |text: &str| Address::parse(Path::new(text));
        assert_eq!(parse("a/directory"), None);
        let list = |text: &str| {
            let address = parse(text).expect("an address").expect("valid");
            assert_eq!(address.session, None);
            address.daemon
        };
        assert_eq!(list("net://localhost"), "localhost:5344");
        assert_eq!(list("net://localhost/"), "localhost:5344");
        assert_eq!(list("net4://localhost:77"), "localhost:77");
        assert_eq!(list("net://[::1]"), "[::1]:5344");
        assert_eq!(list("net://[::1]:77"), "[::1]:77");
        let one = parse("net://10.0.0.1/host/vm/my-session").expect("an address").expect("valid");
        assert_eq!(one.daemon, "10.0.0.1:5344");
        assert_eq!(one.session, Some(("vm".to_owned(), "my-session".to_owned())));
        for wrong in
            ["net://", "net://h/vm/s", "net://h/host/vm", "net://h/host//s", "net://h/host/a/b/c"]
        {
            assert!(matches!(parse(wrong), Some(Err(_))), "{wrong}");
        }
    }
}
