//! Names for CTF 1.8.

/// Returns the name itself if it is an identifier, and otherwise an identifier that
/// resembles it. Keywords stay: a leading underscore hides them.
pub(super) fn identifier_like(name: &str) -> String {
    let mut changed: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if changed.is_empty() || changed.starts_with(|c: char| c.is_ascii_digit()) {
        changed.insert(0, 'n');
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_stay_and_others_resemble_them() {
        assert_eq!(identifier_like("_x9"), "_x9");
        assert_eq!(identifier_like("a b.c"), "a_b_c");
        assert_eq!(identifier_like("9lives"), "n9lives");
        assert_eq!(identifier_like(""), "n");
    }
}
