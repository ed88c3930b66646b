//! Paths to fields.

/// A step of a path to a field: see [`Trace::field_at`](crate::Trace::field_at).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldStep {
    /// The member of a structure, or the option of a variant, with this name.
    Name(String),
    /// The element of an array with this index, from 0.
    Index(u64),
    /// The option of a variant with this index, from 0. In CTF 2, options need not have
    /// names.
    Option(u64),
}

impl FieldStep {
    pub(crate) fn name(&self) -> Option<&str> {
        if let FieldStep::Name(name) = self { Some(name) } else { None }
    }
}

/// Parses a path such as `a.b[2].c`; `None` if it is malformed.
pub(super) fn parse(path: &str) -> Option<Vec<FieldStep>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, mut indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty() && (indices.is_empty() || !steps.is_empty()) {
            return None;
        }
        if !name.is_empty() {
            steps.push(FieldStep::Name(name.to_owned()));
        }
        while let Some(rest) = indices.strip_prefix('[') {
            let (index, rest) = rest.split_once(']')?;
            steps.push(FieldStep::Index(index.parse().ok()?));
            indices = rest;
        }
        if !indices.is_empty() {
            return None;
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_parsed() {
        let name = |s: &str| FieldStep::Name(s.to_owned());
        assert_eq!(parse("a"), Some(vec![name("a")]));
        assert_eq!(
            parse("a.b[2][3].c"),
            Some(vec![name("a"), name("b"), FieldStep::Index(2), FieldStep::Index(3), name("c")])
        );
        for bad in ["", "a.", ".a", "a[", "a[x]", "a[1]b", "a..b"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
