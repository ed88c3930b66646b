//! Names with wildcards.

/// A pattern for names in which `*` matches any text and `?` any character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    text: String,
    plain: bool,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Pattern { text: text.to_owned(), plain: !text.contains(['*', '?']) }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns `true` if it has no wildcards.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        if self.plain { self.text == name } else { matches_wildcards(&self.text, name) }
    }
}

/// Matches a name with wildcards. Backtracking to the last `*` is enough: an earlier `*` can
/// match less text, but this never makes a match possible that was not possible before.
fn matches_wildcards(pattern: &str, name: &str) -> bool {
    let (mut p, mut n) = (pattern.chars(), name.chars());
    // The pattern after the last `*`, and the name after the text that the `*` matches.
    let mut star = None;
    loop {
        let before = n.clone();
        match (p.next(), n.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                star = Some((p.clone(), before.clone()));
                n = before;
            }
            (Some('?'), Some(_)) => {}
            (Some(a), Some(b)) if a == b => {}
            _ => {
                let Some((after, left)) = &mut star else { return false };
                if left.next().is_none() {
                    return false;
                }
                (p, n) = (after.clone(), left.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Matches by trying all possibilities.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            (['*', rest @ ..], _) => {
                naive(rest, name) || !name.is_empty() && naive(pattern, &name[1..])
            }
            (['?', rest @ ..], [_, after @ ..]) => naive(rest, after),
            ([a, rest @ ..], [b, after @ ..]) if a == b => naive(rest, after),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matches_like_the_naive_matcher(pattern in "[ab*?é]{0,8}", name in "[abé]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = naive(&chars(&pattern), &chars(&name));
            prop_assert_eq!(Pattern::new(&pattern).matches(&name), expected);
        }
    }

    #[test]
    fn many_stars_are_fast() {
        let name = "a".repeat(10_000);
        assert!(!Pattern::new(&"*a".repeat(50).replace("a*", "a*b*")).matches(&name));
    }
}
