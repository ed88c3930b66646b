//! The place of the cursor in an expression, which may be incomplete and faulty.

use crate::syntax::{
    LiteralKind, Relation, Root, Selector, Step, StepKind, Token, TokenKind, is_keyword,
    pattern_len, tokens,
};

/// The kind of text that can stand at the cursor.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// The start of a term.
    Term,
    /// A selector in `exists(…)`.
    Present,
    /// A selector after a value and a relation, such as `5 <`.
    Compared,
    /// The rest of a selector, after this text and a point. The flag states that the field
    /// need only be present.
    Member(String, bool),
    /// A relation after a selector.
    Relation(Selector),
    /// The word `in`, after `not`.
    In,
    /// A value after a relation.
    Value(Selector, Relation),
    /// A value in a set.
    Element(Selector),
    /// The comma or parenthesis after a value in a set.
    AfterElement,
    /// A relation after a value.
    ReversedRelation,
    /// An opening parenthesis.
    Open,
    /// A closing parenthesis.
    Close,
    /// An operator after a term.
    Operator,
    /// Nothing that is known.
    Nothing,
}

/// An expression up to the cursor.
#[derive(Debug)]
pub(super) struct Scanned<'t> {
    pub(super) place: Place,
    /// The start of the text that stands at the place so far.
    pub(super) start: usize,
    /// The terms that have to hold together with the one at the cursor.
    pub(super) terms: Vec<&'t str>,
    /// The number of open groups.
    pub(super) depth: usize,
}

/// Scans the text of an expression before the cursor.
pub(super) fn scan(text: &str) -> Scanned<'_> {
    let (mut tokens, _) = tokens(text);
    tokens.retain(|token| token.kind != TokenKind::End);
    let frames = vec![Frame::default()];
    let mut scanner = Scanner { text, tokens, at: 0, frames };
    let (place, start) = scanner.run();
    let depth = scanner.frames.len() - 1;
    let terms = scanner.frames.into_iter().flat_map(|frame| frame.terms);
    let terms = terms.filter_map(|(start, end)| text.get(start..end)).collect();
    Scanned { place, start, terms, depth }
}

/// A group, or the whole expression.
#[derive(Debug, Default)]
struct Frame {
    /// The terms of the last conjunction.
    terms: Vec<(usize, usize)>,
    /// The start of the current term, after the first of its tokens.
    start: Option<usize>,
}

/// The state between two tokens.
#[derive(Debug, Clone)]
enum State {
    Term,
    Selected(Selector),
    Not(Selector),
    In(Selector),
    Related(Selector, Relation),
    Element(Selector),
    AfterElement(Selector),
    Value,
    Reversed,
    Exists,
    ExistsField,
    ExistsEnd,
    Done,
    /// After a fault, in this number of further groups.
    Lost(usize),
}

/// A selector, or the part of it before the cursor.
enum Selected {
    Whole(Selector, usize),
    /// The cursor is in its first name, which starts here.
    First(usize),
    /// The cursor is in a name after a point, which starts here.
    Member(String, usize),
    Index,
    Fault,
}

struct Scanner<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    frames: Vec<Frame>,
}

impl Scanner<'_> {
    /// Returns the place of the cursor, and the start of the text at it.
    fn run(&mut self) -> (Place, usize) {
        let mut state = State::Term;
        let cursor = self.text.len();
        loop {
            let Some(token) = self.tokens.get(self.at) else { return (place(&state), cursor) };
            let (kind, start) = (token.kind.clone(), token.span.start as usize);
            let is_last = self.at + 1 == self.tokens.len() && self.touches(token);
            if matches!(state, State::Term | State::Value)
                && let Some(frame) = self.frames.last_mut()
            {
                frame.start.get_or_insert(start);
            }
            let (next, taken) = match (state, kind) {
                (State::Term, TokenKind::Open) => {
                    self.frames.push(Frame::default());
                    (State::Term, 1)
                }
                (State::Term, TokenKind::Not) => (State::Term, 1),
                (State::Term, TokenKind::Word(_)) if is_last => return (Place::Term, start),
                (State::Term, kind) if kind.is_word("not") => (State::Term, 1),
                (State::Term, kind) if kind.is_word("exists") => (State::Exists, 1),
                (State::Term, kind) if kind.is_word("true") || kind.is_word("false") => {
                    (State::Done, 1)
                }
                (State::Term, _) if pattern_len(&self.tokens[self.at..]).is_some() => {
                    let taken = pattern_len(&self.tokens[self.at..]).unwrap_or(1);
                    if self.touches(&self.tokens[self.at + taken - 1]) {
                        return (Place::Nothing, start);
                    }
                    (State::Done, taken)
                }
                (State::Term, TokenKind::Literal(LiteralKind::Text(_)))
                    if !is_last
                        && !matches!(
                            self.tokens.get(self.at + 1).map(|token| &token.kind),
                            Some(TokenKind::Relation(_))
                        ) =>
                {
                    (State::Done, 1)
                }
                (State::Term, TokenKind::Literal(_)) if is_last && !self.is_closed(start) => {
                    return (Place::Nothing, start);
                }
                (State::Term, TokenKind::Literal(_)) => (State::Reversed, 1),
                (state @ (State::Term | State::ExistsField | State::Value), _) => {
                    let place = place(&state);
                    match self.selector() {
                        Selected::Whole(selector, taken) => {
                            let next = match state {
                                State::Term => State::Selected(selector),
                                State::Value => State::Done,
                                _ => State::ExistsEnd,
                            };
                            (next, taken)
                        }
                        Selected::First(start) => return (place, start),
                        Selected::Member(base, start) => {
                            return (Place::Member(base, place == Place::Present), start);
                        }
                        Selected::Index => return (Place::Nothing, cursor),
                        Selected::Fault => (State::Lost(0), 0),
                    }
                }
                (State::Selected(selector), TokenKind::Relation(relation)) => {
                    if is_last && self.text[start..].len() == 1 {
                        return (Place::Relation(selector), start);
                    }
                    (State::Related(selector, relation), 1)
                }
                (State::Selected(selector), TokenKind::Not) if is_last => {
                    return (Place::Relation(selector), start);
                }
                (State::Selected(selector), TokenKind::Not) => (State::Not(selector), 1),
                (State::Selected(_), kind) if kind.is_logical() && !is_word(&kind) => {
                    (State::Done, 0)
                }
                (State::Selected(_), TokenKind::Close) => (State::Done, 0),
                (State::Selected(selector), TokenKind::Word(_)) if is_last => {
                    return (Place::Relation(selector), start);
                }
                (State::Selected(selector), kind) if kind.is_word("in") => (State::In(selector), 1),
                (State::Selected(selector), kind) if kind.is_word("not") => {
                    (State::Not(selector), 1)
                }
                (State::Selected(_), kind) if kind.is_logical() => (State::Done, 0),
                (State::Not(_), TokenKind::Word(_)) if is_last => return (Place::In, start),
                (State::Not(selector), kind) if kind.is_word("in") => (State::In(selector), 1),
                (State::In(selector), TokenKind::Open) => (State::Element(selector), 1),
                (State::Related(selector, relation), _) => match self.value() {
                    Some((start, None)) => return (Place::Value(selector, relation), start),
                    Some((_, Some(taken))) => (State::Done, taken),
                    None => (State::Lost(0), 0),
                },
                (State::Element(selector), _) => match self.value() {
                    Some((start, None)) => return (Place::Element(selector), start),
                    Some((_, Some(taken))) => (State::AfterElement(selector), taken),
                    None => (State::Lost(1), 0),
                },
                (State::AfterElement(selector), TokenKind::Comma) => (State::Element(selector), 1),
                (State::AfterElement(_), TokenKind::Close) => (State::Done, 1),
                (State::AfterElement(_), _) => (State::Lost(1), 0),
                (State::Reversed, TokenKind::Relation(_)) => (State::Value, 1),
                (State::Exists, TokenKind::Open) => (State::ExistsField, 1),
                (State::ExistsEnd, TokenKind::Close) => (State::Done, 1),
                (State::Done, kind) => match self.after_term(&kind, is_last) {
                    Some(next) => (next, 1),
                    None => return (Place::Operator, start),
                },
                (State::Lost(depth), kind) => self.lost(depth, &kind),
                _ => (State::Lost(0), 0),
            };
            state = next;
            self.at += taken;
        }
    }

    /// Handles a token after a term. Returns `None` if the cursor is in it.
    fn after_term(&mut self, kind: &TokenKind, is_last: bool) -> Option<State> {
        if is_word(kind) && is_last {
            return None;
        }
        let end = self.tokens[..self.at].last().map_or(0, |token| token.span.end as usize);
        if kind.is_logical() {
            let frame = self.frames.last_mut()?;
            let start = frame.start.take();
            if *kind == TokenKind::And || kind.is_word("and") {
                frame.terms.extend(start.map(|start| (start, end)));
            } else {
                frame.terms.clear();
            }
            return Some(State::Term);
        }
        Some(match kind {
            TokenKind::Close if self.frames.len() > 1 => {
                self.frames.pop();
                State::Done
            }
            TokenKind::Close => State::Done,
            _ => State::Lost(0),
        })
    }

    /// Skips a token of a faulty term. Returns the next state, and the number of tokens that
    /// are skipped.
    fn lost(&mut self, depth: usize, kind: &TokenKind) -> (State, usize) {
        match kind {
            TokenKind::Open => (State::Lost(depth + 1), 1),
            TokenKind::Close if depth > 0 => (State::Lost(depth - 1), 1),
            TokenKind::Close => (State::Done, 0),
            kind if depth == 0 && kind.is_logical() => (State::Done, 0),
            _ => (State::Lost(depth), 1),
        }
    }

    /// Reads a value. Returns its start, and the number of its tokens, or `None` if the
    /// cursor is in it.
    fn value(&self) -> Option<(usize, Option<usize>)> {
        let token = self.tokens.get(self.at)?;
        let start = token.span.start as usize;
        let mut last = self.at;
        if let Some(taken) = pattern_len(&self.tokens[self.at..]) {
            let is_partial = self.touches(&self.tokens[self.at + taken - 1]);
            return Some((start, (!is_partial).then_some(taken)));
        }
        match &token.kind {
            TokenKind::Word(word) if !is_keyword(word) || self.touches(token) => {
                // Words that are joined by points.
                while let Some(dot) = self.tokens.get(last + 1).filter(|t| t.kind == TokenKind::Dot)
                {
                    if self.touches(dot) {
                        return Some((start, None));
                    }
                    match self.tokens.get(last + 2) {
                        Some(word) if is_word(&word.kind) => last += 2,
                        _ => break,
                    }
                }
                let is_partial = self.touches(&self.tokens[last]);
                Some((start, (!is_partial).then_some(last + 1 - self.at)))
            }
            TokenKind::Word(word) => {
                let is_truth = ["true", "false"].iter().any(|t| word.eq_ignore_ascii_case(t));
                is_truth.then_some((start, Some(1)))
            }
            TokenKind::Literal(_) => {
                let is_partial = self.touches(token) && !self.is_closed(start);
                Some((start, (!is_partial).then_some(1)))
            }
            TokenKind::Bad if self.is_open(token, &['"', '\'']) => Some((start, None)),
            _ => None,
        }
    }

    /// Reads a selector.
    fn selector(&self) -> Selected {
        let Some(first) = self.tokens.get(self.at) else { return Selected::Fault };
        let start = first.span.start as usize;
        let is_rooted = self.tokens.get(self.at + 1).is_some_and(|t| t.kind == TokenKind::Dot);
        let mut selector =
            Selector { root: Root::Unqualified, steps: Vec::new(), span: first.span };
        match &first.kind {
            TokenKind::Word(_) if self.touches(first) => return Selected::First(start),
            TokenKind::Word(word) if is_rooted && Root::of(word).is_some() => {
                selector.root = Root::of(word).unwrap_or(Root::Unqualified);
            }
            TokenKind::Word(word) if is_keyword(word) => return Selected::Fault,
            TokenKind::Word(name) | TokenKind::Name(name) => {
                selector.steps.push(Step::new(StepKind::Name(name.clone())));
            }
            TokenKind::Bad if self.is_open(first, &['`']) => return Selected::First(start),
            _ => return Selected::Fault,
        }
        let mut at = self.at + 1;
        loop {
            match self.tokens.get(at).map(|token| &token.kind) {
                Some(TokenKind::Dot) => {
                    let Some(name) = self.tokens.get(at + 1) else {
                        return Selected::Member(format!("{selector}."), self.text.len());
                    };
                    let start = name.span.start as usize;
                    let step = match &name.kind {
                        TokenKind::Word(_) if self.touches(name) => {
                            return Selected::Member(format!("{selector}."), start);
                        }
                        TokenKind::Bad if self.is_open(name, &['`']) => {
                            return Selected::Member(format!("{selector}."), start);
                        }
                        TokenKind::Word(name)
                        | TokenKind::Name(name)
                        | TokenKind::Literal(LiteralKind::Text(name)) => {
                            StepKind::Name(name.clone())
                        }
                        TokenKind::Star => StepKind::Any,
                        _ => return Selected::Fault,
                    };
                    selector.steps.push(Step::new(step));
                    at += 2;
                }
                Some(TokenKind::OpenIndex) => {
                    let index = match self.tokens.get(at + 1).map(|token| &token.kind) {
                        Some(TokenKind::Literal(LiteralKind::Integer(n))) => n.as_i128(),
                        Some(_) => return Selected::Fault,
                        None => return Selected::Index,
                    };
                    match self.tokens.get(at + 2).map(|token| &token.kind) {
                        Some(TokenKind::CloseIndex) => {}
                        Some(_) => return Selected::Fault,
                        None => return Selected::Index,
                    }
                    let Some(index) = index.and_then(|n| u64::try_from(n).ok()) else {
                        return Selected::Fault;
                    };
                    selector.steps.push(Step::new(StepKind::Index(index)));
                    at += 3;
                }
                _ => return Selected::Whole(selector, at - self.at),
            }
        }
    }

    /// Returns `true` if the cursor is directly after a token.
    fn touches(&self, token: &Token) -> bool {
        token.span.end as usize == self.text.len()
    }

    /// Returns `true` if a token is quoted text that is not closed.
    fn is_open(&self, token: &Token, quotes: &[char]) -> bool {
        self.touches(token) && self.text[token.span.start as usize..].starts_with(quotes)
    }

    /// Returns `true` if the value that starts at a place is in quotes.
    fn is_closed(&self, start: usize) -> bool {
        self.text[start..].starts_with(['"', '\''])
    }
}

fn is_word(kind: &TokenKind) -> bool {
    matches!(kind, TokenKind::Word(_))
}

/// Returns the place after all tokens.
fn place(state: &State) -> Place {
    match state.clone() {
        State::Term => Place::Term,
        State::Selected(selector) => Place::Relation(selector),
        State::Not(_) => Place::In,
        State::In(_) | State::Exists => Place::Open,
        State::Related(selector, relation) => Place::Value(selector, relation),
        State::Element(selector) => Place::Element(selector),
        State::AfterElement(_) => Place::AfterElement,
        State::Value => Place::Compared,
        State::ExistsField => Place::Present,
        State::Reversed => Place::ReversedRelation,
        State::ExistsEnd => Place::Close,
        State::Done => Place::Operator,
        State::Lost(_) => Place::Nothing,
    }
}
