//! Patterns without quotes: `sched_*`, `sched.*`.

use super::expr::ExprKind;
use super::parser::parse;
use super::selector::Root;
use super::token::{Token, TokenKind};
use super::{Expr, is_keyword};

/// Returns the number of tokens, from the first one on, that are a pattern: words and
/// wildcards, joined by points, without blanks. `None` if there is no wildcard among them, or
/// if they start with the root of a selector, as `event.fields.*` does.
pub(crate) fn pattern_len(tokens: &[Token]) -> Option<usize> {
    let kind = |at: usize| tokens.get(at).map(|token| &token.kind);
    if let (Some(TokenKind::Word(word)), Some(TokenKind::Dot)) = (kind(0), kind(1))
        && Root::of(word).is_some()
    {
        return None;
    }
    let joins = |at: usize| tokens[at].span.start == tokens[at - 1].span.end;
    let (mut len, mut has_wildcard) = (0, false);
    loop {
        match kind(len) {
            Some(TokenKind::Pattern(_) | TokenKind::Star) => has_wildcard = true,
            Some(TokenKind::Word(word)) if len > 0 || !is_keyword(word) => {}
            _ => return None,
        }
        len += 1;
        let is_joined = kind(len) == Some(&TokenKind::Dot)
            && joins(len)
            && tokens.get(len + 1).is_some_and(|_| joins(len + 1))
            && matches!(
                kind(len + 1),
                Some(TokenKind::Pattern(_) | TokenKind::Star | TokenKind::Word(_))
            );
        if !is_joined {
            return has_wildcard.then_some(len);
        }
        len += 1;
    }
}

/// Returns `true` if a text stands for names of events without quotes.
pub(crate) fn can_stand_alone(text: &str) -> bool {
    let is_name = |tree: Expr| tree.is_named() || matches!(tree.kind, ExprKind::Is(_));
    !text.starts_with(['"', '\'', '`']) && parse(text).is_ok_and(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::lexer::tokens;

    #[test]
    fn patterns_end_at_blanks_and_signs() {
        let len = |text: &str| {
            let tokens = tokens(text).0;
            let len = pattern_len(&tokens)?;
            Some(text[..tokens[len - 1].span.end as usize].to_owned())
        };
        for (text, expected) in [
            ("sched_* && x", Some("sched_*")),
            ("*_switch", Some("*_switch")),
            ("a?c", Some("a?c")),
            ("provider:*", Some("provider:*")),
            ("sched.sched_*)", Some("sched.sched_*")),
            ("sched.* x", Some("sched.*")),
            ("*.sched_switch", Some("*.sched_switch")),
            ("*", Some("*")),
            ("sched_switch", None),
            ("event.fields.*.x", None),
            ("next_tid == 5", None),
            ("and*", Some("and*")),
            ("x. *", None),
        ] {
            assert_eq!(len(text).as_deref(), expected, "{text}");
        }
        assert!(can_stand_alone("sched_switch") && can_stand_alone("sched_*"));
        assert!(!can_stand_alone("my event") && !can_stand_alone("9p_*") && !can_stand_alone("in"));
    }
}
