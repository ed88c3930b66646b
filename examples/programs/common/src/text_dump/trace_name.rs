//! The names of traces in the output.

use std::path::{Path, PathBuf};

use ltt_read::schema::Schema;

/// Returns the name of a trace in babeltrace: its host, and its path below the path that
/// the user gave (omitted if the trace is in several directories).
pub fn trace_name(schema: &Schema, given: &Path, found: &[PathBuf]) -> String {
    let host = schema.env_str("hostname").unwrap_or("");
    let below = match found {
        [only] => only.strip_prefix(given).unwrap_or(Path::new("")).to_string_lossy(),
        _ => "".into(),
    };
    match (host.is_empty(), below.is_empty()) {
        (_, true) => host.to_owned(),
        (true, false) => below.into_owned(),
        (false, false) => format!("{host}/{below}"),
    }
}

/// Returns the path, of those that the user gave, that led to a trace.
pub fn given_for<'a>(found: &'a Path, given: &'a [PathBuf]) -> &'a Path {
    given.iter().map(|path| &**path).find(|path| found.starts_with(path)).unwrap_or(found)
}

#[cfg(test)]
mod tests {
    use ltt_read::schema::{EnvValue, Format};

    use super::*;

    #[test]
    fn host_and_path() {
        let name = |schema: &Schema, given, found: &str| {
            let found: Vec<_> = found.split(' ').map(PathBuf::from).collect();
            trace_name(schema, Path::new(given), &found)
        };
        let mut schema = Schema::new(Format::Ctf1);
        assert_eq!(name(&schema, "a", "a"), "");
        assert_eq!(name(&schema, "a", "a/ust/uid"), "ust/uid");
        schema.env.push(("hostname".into(), EnvValue::Str("vm".into())));
        assert_eq!(name(&schema, "a", "a"), "vm");
        assert_eq!(name(&schema, "a/", "a/kernel"), "vm/kernel");
        assert_eq!(name(&schema, "a", "a/1 a/2"), "vm");
    }
}
