//! The parser: recursive descent, with one function for each level of precedence. A fault
//! in one term does not hide faults in others.

use crate::span::Span;

use super::expected::{Expected, Place};
use super::expr::{Expr, ExprKind, Literal, Relation};
use super::lexer;
use super::literal::LiteralKind;
use super::pattern::pattern_len;
use super::selector::{Root, Selector, Step, StepKind};
use super::token::{Token, TokenKind};
use super::{MAX_COMPARISONS, MAX_DEPTH, is_keyword};
use crate::diagnostic::{Diagnostic, FilterError, FilterErrorKind, MAX_ERRORS};

/// The maximum length of a text, in bytes.
pub(crate) const MAX_TEXT: usize = 1 << 20;

/// Parses an expression from its text.
pub(crate) fn parse(text: &str) -> Result<Expr, FilterError> {
    if text.trim().is_empty() {
        let error = Diagnostic::new(Span::new(0, 0), "the filter is empty");
        let error = error.help("`true` passes all events");
        return Err(FilterError::new(FilterErrorKind::Empty, text, vec![error]));
    }
    if text.len() > MAX_TEXT {
        let message = format!("an expression of {} bytes is too long", text.len());
        let error = Diagnostic::new(Span::new(0, 0), message).help("the limit is 1 MiB");
        return Err(FilterError::new(FilterErrorKind::Syntax, text, vec![error]));
    }
    let (tokens, errors) = lexer::tokens(text);
    let mut parser = Parser { errors, ..Parser::new(text, tokens) };
    let tree = parser.whole();
    parser.errors.truncate(MAX_ERRORS);
    match parser.errors.is_empty() {
        true => Ok(tree),
        false => Err(FilterError::new(FilterErrorKind::Syntax, text, parser.errors)),
    }
}

/// Parses the text of an expression before the cursor, and returns the tokens that can follow.
pub(crate) fn expected(text: &str) -> Expected {
    let (tokens, _) = lexer::tokens(text);
    let mut parser = Parser { stops: true, ..Parser::new(text, tokens) };
    parser.whole();
    let nothing = || Expected {
        place: Place::Nothing,
        start: text.len(),
        terms: Vec::new(),
        groups: parser.groups,
    };
    parser.expected.unwrap_or_else(nothing)
}

/// A fault for which an error has been added. Parsing of the term stops.
struct Fault;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    comparisons: usize,
    /// The number of open groups.
    groups: usize,
    /// The terms so far of the conjunctions that are being parsed, without faulty ones.
    terms: Vec<Expr>,
    /// The number of terms with faults.
    faults: usize,
    /// `true` if parsing was abandoned, so that no more errors are added.
    is_abandoned: bool,
    errors: Vec<Diagnostic>,
    /// `true` if parsing stops at the end of the text, where the cursor is. No errors are
    /// added.
    stops: bool,
    expected: Option<Expected>,
}

/// A function that parses terms of a level of precedence.
type Level<'a> = fn(&mut Parser<'a>) -> Expr;

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        Parser {
            text,
            tokens,
            at: 0,
            depth: 0,
            comparisons: 0,
            groups: 0,
            terms: Vec::new(),
            faults: 0,
            is_abandoned: false,
            errors: Vec::new(),
            stops: false,
            expected: None,
        }
    }

    fn whole(&mut self) -> Expr {
        let tree = self.or();
        // Parsing of terms stops at a token that cannot follow a term.
        while self.peek().kind != TokenKind::End && self.errors.len() < MAX_ERRORS {
            let span = self.peek().span;
            if self.peek().kind == TokenKind::Close {
                let error = Diagnostic::new(span, "unmatched `)`");
                self.report(Some(error));
                self.at += 1;
                if self.expect(|| Place::Operator).is_err() {
                    break;
                }
            } else if !self.peek().kind.is_logical() {
                let error = self.after_term();
                self.report(error);
                self.skip_term();
                continue;
            }
            let is_joined = self.peek().kind.is_logical();
            self.at += usize::from(is_joined);
            if self.peek().kind != TokenKind::End || is_joined && self.stops {
                self.or();
            }
        }
        tree
    }

    fn or(&mut self) -> Expr {
        self.joined(&TokenKind::Or, "or", Self::xor, ExprKind::Or)
    }

    fn xor(&mut self) -> Expr {
        self.joined(&TokenKind::Xor, "xor", Self::and, ExprKind::Xor)
    }

    fn and(&mut self) -> Expr {
        let outer = self.terms.len();
        let tree = self.joined(&TokenKind::And, "and", Self::term, ExprKind::And);
        self.terms.truncate(outer);
        tree
    }

    /// Parses one or more terms of a level, joined by a sign or a word.
    fn joined(
        &mut self,
        sign: &TokenKind,
        word: &str,
        level: Level<'a>,
        join: fn(Vec<Expr>) -> ExprKind,
    ) -> Expr {
        let first = level(self);
        if !self.is_joint(sign, word) {
            return first;
        }
        let start = first.span;
        let mut terms = vec![first];
        while self.is_joint(sign, word) {
            self.at += 1;
            terms.push(level(self));
        }
        let span = Span { start: start.start, end: self.last_end() };
        Expr { kind: join(terms), span }
    }

    fn is_joint(&self, sign: &TokenKind, word: &str) -> bool {
        let kind = &self.peek().kind;
        kind == sign || kind.is_word(word)
    }

    /// Parses a term. An invalid term is replaced with a constant.
    fn term(&mut self) -> Expr {
        let span = self.peek().span;
        let faults = self.faults;
        let term = self.negated().and_then(|expr| self.expect(|| Place::Operator).map(|()| expr));
        match term {
            Ok(expr) => {
                if self.stops && self.faults == faults {
                    self.terms.push(expr.clone());
                }
                expr
            }
            Err(Fault) => {
                self.faults += 1;
                self.skip_term();
                Expr { kind: ExprKind::Constant(false), span }
            }
        }
    }

    /// Skips to the end of a faulty term: an operator that joins terms, or a closing
    /// parenthesis that this term did not open.
    fn skip_term(&mut self) {
        let mut open = 0u32;
        loop {
            match &self.peek().kind {
                TokenKind::End => return,
                TokenKind::Open => open += 1,
                TokenKind::Close if open == 0 => return,
                TokenKind::Close => open -= 1,
                kind if open == 0 && kind.is_logical() => {
                    _ = self.expect(|| Place::Operator);
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn negated(&mut self) -> Result<Expr, Fault> {
        let start = self.peek().span;
        if !(self.peek().kind == TokenKind::Not || self.peek().kind.is_word("not")) {
            return self.primary();
        }
        if self.touches(0) && self.peek().kind != TokenKind::Not {
            return self.stop(Place::Term, start.start as usize);
        }
        self.at += 1;
        self.enter(start)?;
        let inner = self.negated();
        self.depth -= 1;
        let span = Span { start: start.start, end: self.last_end() };
        Ok(Expr { kind: ExprKind::Not(Box::new(inner?)), span })
    }

    /// Increments the nesting depth, within its limit.
    fn enter(&mut self, span: Span) -> Result<(), Fault> {
        if self.depth == MAX_DEPTH {
            let message = format!("nesting exceeds {MAX_DEPTH} levels");
            return self.abandon(Diagnostic::new(span, message));
        }
        self.depth += 1;
        Ok(())
    }

    fn primary(&mut self) -> Result<Expr, Fault> {
        self.expect_name(|| Place::Term)?;
        if let Some(named) = self.named_pattern() {
            return named;
        }
        let Token { kind, span } = self.peek().clone();
        if self.touches(0) && matches!(kind, TokenKind::Literal(_)) {
            return match self.starts_with(span, &['"', '\'']) {
                true => self.stop(Place::ReversedRelation, self.text.len()),
                false => self.stop(Place::Nothing, self.text.len()),
            };
        }
        match kind {
            TokenKind::Open => self.group(span),
            TokenKind::Word(word) if word.eq_ignore_ascii_case("exists") => self.exists(span),
            TokenKind::Word(word) if is_truth(&word) => {
                if let TokenKind::Relation(_) = self.peek_at(1).kind {
                    return self.reversed();
                }
                self.at += 1;
                let truth = word.eq_ignore_ascii_case("true");
                Ok(Expr { kind: ExprKind::Constant(truth), span })
            }
            TokenKind::Word(word) if is_keyword(&word) => {
                let error = self.unexpected("a comparison");
                self.fail(
                    error
                        .help(format!("a field with this name is quoted with backticks: `{word}`")),
                )
            }
            TokenKind::Word(_) | TokenKind::Name(_) => self.comparison(),
            TokenKind::Literal(LiteralKind::Text(text))
                if !matches!(self.peek_at(1).kind, TokenKind::Relation(_)) =>
            {
                self.named(text, 1)
            }
            TokenKind::Literal(_) => self.reversed(),
            TokenKind::Bad => Err(Fault),
            TokenKind::Relation(_) => {
                let error = self.unexpected("a field");
                self.fail(error.label("the field to compare has to stand before it"))
            }
            TokenKind::Star => {
                let error = self.unexpected("a comparison");
                self.fail(error.help("the field of any event is written `event.fields.*.FIELD`"))
            }
            _ => {
                let error = self.unexpected("a comparison");
                self.fail(error.label("such as `event.name == \"sched_switch\"`"))
            }
        }
    }

    /// Parses a pattern without quotes that stands alone. `None` if there is none.
    fn named_pattern(&mut self) -> Option<Result<Expr, Fault>> {
        let len = pattern_len(&self.tokens[self.at..])?;
        let (start, end) = (self.peek().span.start, self.peek_at(len - 1).span.end);
        if self.touches(len - 1) {
            return Some(self.stop(Place::Nothing, self.text.len()));
        }
        let (next, after) = (&self.peek_at(len).kind, &self.peek_at(len + 1).kind);
        let is_not = next.is_word("not") || *next == TokenKind::Not;
        let is_compared = matches!(next, TokenKind::Relation(_))
            || next.is_word("in")
            || is_not && after.is_word("in");
        if !is_compared {
            let text = self.text[start as usize..end as usize].to_owned();
            return Some(self.named(text, len));
        }
        let tokens = &self.tokens[self.at..self.at + len];
        if !tokens.iter().any(|token| matches!(token.kind, TokenKind::Pattern(_))) {
            return None; // `a.*` is refused as a selector.
        }
        let error = Diagnostic::new(Span { start, end }, "a pattern stands on the right");
        Some(self.fail(error.help("alone, it is a pattern of names of events")))
    }

    /// Parses a pattern of names of events that stands alone, of this number of tokens.
    fn named(&mut self, text: String, tokens: usize) -> Result<Expr, Fault> {
        let start = self.peek().span;
        self.count(start)?;
        self.at += tokens;
        let span = Span { start: start.start, end: self.last_end() };
        self.end_of_term()?;
        Ok(Expr { kind: ExprKind::named(Relation::Matches, text, span), span })
    }

    fn group(&mut self, open: Span) -> Result<Expr, Fault> {
        self.at += 1;
        self.enter(open)?;
        self.groups += 1;
        let inner = if self.peek().kind == TokenKind::Close {
            let span = Span { start: open.start, end: self.peek().span.end };
            self.at += 1;
            self.depth -= 1;
            self.groups -= 1;
            return self.fail(Diagnostic::new(span, "empty parentheses"));
        } else {
            self.or()
        };
        self.depth -= 1;
        if self.peek().kind != TokenKind::Close {
            if self.peek().kind == TokenKind::End {
                return self.fail(Diagnostic::new(open, "unclosed `(`"));
            }
            let error = self.after_term();
            self.report(error);
            self.skip_term();
            while self.peek().kind.is_logical() {
                self.at += 1;
                self.or();
            }
            if self.peek().kind != TokenKind::Close {
                return Err(Fault);
            }
        }
        self.groups -= 1;
        self.at += 1;
        Ok(Expr { span: Span { start: open.start, end: self.last_end() }, ..inner })
    }

    fn exists(&mut self, start: Span) -> Result<Expr, Fault> {
        self.at += 1;
        self.expect(|| Place::Open)?;
        if self.peek().kind != TokenKind::Open {
            let error = self.unexpected("`(`");
            return self.fail(error.label("as in `exists(FIELD)`"));
        }
        self.at += 1;
        self.count(start)?;
        self.expect_name(|| Place::Present)?;
        if !matches!(self.peek().kind, TokenKind::Word(_) | TokenKind::Name(_)) {
            let error = self.unexpected("a field");
            return self.fail(error);
        }
        let selector = self.selector(true)?;
        self.expect(|| Place::Close)?;
        if self.peek().kind != TokenKind::Close {
            let error = self.unexpected("`)`");
            return self.fail(error);
        }
        self.at += 1;
        let span = Span { start: start.start, end: self.last_end() };
        self.end_of_term()?;
        Ok(Expr { kind: ExprKind::Exists(selector), span })
    }

    /// Parses `field RELATION value`, `field in (…)` or `field`.
    fn comparison(&mut self) -> Result<Expr, Fault> {
        let start = self.peek().span;
        self.count(start)?;
        let selector = self.selector(false)?;
        self.expect_relation(&selector)?;
        let kind = match self.peek().kind.clone() {
            TokenKind::Relation(relation) => {
                self.at += 1;
                self.expect_value(|| Place::Value(selector.clone(), relation))?;
                let value = match relation {
                    Relation::Matches | Relation::NotMatches => self.pattern()?,
                    _ => self.value()?,
                };
                ExprKind::Compare { selector, relation, value }
            }
            kind if kind.is_word("in") => {
                self.at += 1;
                ExprKind::In { values: self.set(&selector)?, negated: false, selector }
            }
            kind if (kind.is_word("not") || kind == TokenKind::Not)
                && self.peek_at(1).kind.is_word("in") =>
            {
                self.at += 2;
                ExprKind::In { values: self.set(&selector)?, negated: true, selector }
            }
            TokenKind::And if self.is_bit_test() => {
                self.at += 1;
                ExprKind::Compare { selector, relation: Relation::Bits, value: self.value()? }
            }
            _ => ExprKind::Is(selector),
        };
        let span = Span { start: start.start, end: self.last_end() };
        self.end_of_term()?;
        Ok(Expr { kind, span })
    }

    /// Returns `true` if a `&` after a field is a test of bits: a number follows, or a word with which
    /// the term ends. Otherwise it joins two conditions, as `&&` does.
    fn is_bit_test(&self) -> bool {
        let Span { start, end } = self.peek().span;
        if &self.text[start as usize..end as usize] != "&" {
            return false;
        }
        let next = self.peek_at(2);
        let ends = matches!(next.kind, TokenKind::End | TokenKind::Close) || next.kind.is_logical();
        match &self.peek_at(1).kind {
            TokenKind::Literal(LiteralKind::Integer(_)) => true,
            TokenKind::Literal(LiteralKind::Text(_)) => ends,
            TokenKind::Word(word) => ends && !is_keyword(word) && !is_truth(word),
            _ => false,
        }
    }

    /// Parses `value RELATION field`.
    fn reversed(&mut self) -> Result<Expr, Fault> {
        let start = self.peek().span;
        self.count(start)?;
        let value = self.value()?;
        self.expect(|| Place::ReversedRelation)?;
        let TokenKind::Relation(relation) = self.peek().kind else {
            let error = Diagnostic::new(value.span, "a value alone is neither true nor false");
            return self.fail(error.label("it has to be compared with a field"));
        };
        let sign = self.peek().span;
        self.at += 1;
        self.expect_name(|| Place::Compared)?;
        if !matches!(self.peek().kind, TokenKind::Word(_) | TokenKind::Name(_)) {
            let error = self.unexpected("a field");
            return self.fail(error.label("one side of a comparison has to be a field"));
        }
        let selector = self.selector(false)?;
        let Some(relation) = relation.flipped() else {
            let error = Diagnostic::new(sign, "the pattern has to stand on the right");
            return self.fail(error);
        };
        let span = Span { start: start.start, end: self.last_end() };
        self.end_of_term()?;
        Ok(Expr { kind: ExprKind::Compare { selector, relation, value }, span })
    }

    /// Fails if the next token cannot follow a comparison.
    fn end_of_term(&mut self) -> Result<(), Fault> {
        self.expect(|| Place::Operator)?;
        match self.after_term() {
            Some(error) => self.fail(error),
            None => Ok(()),
        }
    }

    /// Returns the error if the next token cannot follow a term.
    fn after_term(&self) -> Option<Diagnostic> {
        let Token { kind, span } = self.peek();
        let error = match kind {
            TokenKind::End | TokenKind::Close => return None,
            kind if kind.is_logical() => return None,
            TokenKind::Bad => return None,
            TokenKind::Relation(_) if self.follows_bit_test() => {
                let error = Diagnostic::new(*span, "a test of bits cannot be compared");
                error.help("`FIELD & BITS` is true if one of the bits is set")
            }
            TokenKind::Relation(relation) => {
                let sign = relation.symbol();
                let error = Diagnostic::new(*span, "comparisons cannot be chained");
                error.help(format!("write each comparison separately: `a {sign} 1 && b {sign} 2`"))
            }
            TokenKind::Word(_)
            | TokenKind::Literal(_)
            | TokenKind::Name(_)
            | TokenKind::Pattern(_)
            | TokenKind::Star => {
                let error = self.unexpected("an operator");
                error
                    .label("such as `&&` or `||` before it")
                    .help("text with blanks has to be quoted")
            }
            _ => self.unexpected("an operator").label("such as `&&` or `||` before it"),
        };
        Some(error)
    }

    /// Returns `true` if the last two tokens are a `&` and a value.
    fn follows_bit_test(&self) -> bool {
        let sign = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        sign.is_some_and(|sign| sign.kind == TokenKind::And && sign.span.end - sign.span.start == 1)
    }

    /// Counts a comparison, within the limit.
    fn count(&mut self, span: Span) -> Result<(), Fault> {
        self.comparisons += 1;
        if self.comparisons > MAX_COMPARISONS {
            let message = format!("more than {MAX_COMPARISONS} comparisons");
            let error = Diagnostic::new(span, message);
            return self.abandon(error.help("`FIELD in (…)` compares with any number of values"));
        }
        Ok(())
    }

    /// Parses a selector, whose field need only be present, or is compared.
    fn selector(&mut self, is_present: bool) -> Result<Selector, Fault> {
        let first = self.next();
        let start = first.span;
        let rooted = self.peek().kind == TokenKind::Dot;
        let (root, mut steps) = match first.kind {
            TokenKind::Word(word) if rooted && Root::of(&word).is_some() => {
                (Root::of(&word).unwrap_or(Root::Unqualified), Vec::new())
            }
            TokenKind::Word(name) | TokenKind::Name(name) => {
                (Root::Unqualified, vec![Step { kind: StepKind::Name(name), span: start }])
            }
            _ => return Err(Fault),
        };
        loop {
            match self.peek().kind {
                TokenKind::Dot => {
                    self.at += 1;
                    self.expect_name(|| {
                        let base = Selector { root, steps: steps.clone(), span: start };
                        Place::Member(format!("{base}."), is_present)
                    })?;
                    steps.push(self.member()?);
                }
                TokenKind::OpenIndex => steps.push(self.index()?),
                _ => break,
            }
        }
        let span = Span { start: start.start, end: self.last_end() };
        Ok(Selector { root, steps, span })
    }

    fn member(&mut self) -> Result<Step, Fault> {
        let Token { kind, span } = self.peek().clone();
        let kind = match kind {
            TokenKind::Word(name)
            | TokenKind::Name(name)
            | TokenKind::Literal(LiteralKind::Text(name)) => StepKind::Name(name),
            TokenKind::Star => StepKind::Any,
            TokenKind::Bad => return Err(Fault),
            TokenKind::Literal(_) => {
                let error = self.unexpected("a name");
                return self.fail(error.help("an element is written `[5]`"));
            }
            _ => {
                let error = self.unexpected("a name");
                return self.fail(error.label("the name of a field has to follow the point"));
            }
        };
        self.at += 1;
        Ok(Step { kind, span })
    }

    fn index(&mut self) -> Result<Step, Fault> {
        let start = self.next().span;
        let Token { kind, span } = self.peek().clone();
        let index = match kind {
            TokenKind::Literal(LiteralKind::Integer(number)) => {
                number.as_i128().and_then(|n| u64::try_from(n).ok())
            }
            TokenKind::Bad => return Err(Fault),
            _ => None,
        };
        let Some(index) = index else {
            let error = self.unexpected("the number of an element");
            return self.fail(error.label("counted from 0").help("names of fields follow a point"));
        };
        self.at += 1;
        if self.peek().kind != TokenKind::CloseIndex {
            let error = self.unexpected("`]`");
            return self.fail(error);
        }
        self.at += 1;
        let span = Span { start: start.start.min(span.start), end: self.last_end() };
        Ok(Step { kind: StepKind::Index(index), span })
    }

    /// Parses the value after `=~`, which may be a pattern without quotes.
    fn pattern(&mut self) -> Result<Literal, Fault> {
        let Some(len) = pattern_len(&self.tokens[self.at..]) else { return self.value() };
        let start = self.peek().span.start;
        self.at += len;
        let span = Span { start, end: self.last_end() };
        let text = self.text[span.start as usize..span.end as usize].to_owned();
        Ok(Literal { kind: LiteralKind::Text(text), span })
    }

    fn value(&mut self) -> Result<Literal, Fault> {
        if let Some(len) = pattern_len(&self.tokens[self.at..])
            && self.peek().kind != TokenKind::Star
        {
            let (start, end) = (self.peek().span.start, self.peek_at(len - 1).span.end);
            let error = Diagnostic::new(Span { start, end }, "only `=~` and `!~` take a pattern");
            return self.fail(error.help("elsewhere, text with such characters has to be quoted"));
        }
        let Token { kind, span } = self.peek().clone();
        let kind = match kind {
            TokenKind::Literal(kind) => kind,
            TokenKind::Word(word) if is_truth(&word) => {
                LiteralKind::Bool(word.eq_ignore_ascii_case("true"))
            }
            TokenKind::Word(word) if !is_keyword(&word) => return self.plain_text(word, span),
            TokenKind::Bad => return Err(Fault),
            TokenKind::Name(name) => {
                let error = Diagnostic::new(span, "a field cannot be compared with a field");
                let error = error.help("backticks quote names of fields, quotes quote text");
                return self.fail(error.replace(span, format!("{name:?}")));
            }
            TokenKind::Star => {
                let error = self.unexpected("a value");
                return self.fail(error.help("patterns are compared by `=~` and `!~`"));
            }
            _ => {
                let error = self.unexpected("a value");
                return self.fail(error.label("a number, time, label or text"));
            }
        };
        self.at += 1;
        Ok(Literal { kind, span })
    }

    /// Parses text without quotes: a word, or several joined by points.
    fn plain_text(&mut self, mut text: String, start: Span) -> Result<Literal, Fault> {
        self.at += 1;
        let rooted = Root::of(&text).is_some();
        while self.peek().kind == TokenKind::Dot
            && let TokenKind::Word(word) = &self.peek_at(1).kind
        {
            text = format!("{text}.{word}");
            self.at += 2;
        }
        let span = Span { start: start.start, end: self.last_end() };
        if rooted && text.contains('.') {
            let error = Diagnostic::new(span, "a field cannot be compared with a field");
            let error = error.help("text with points has to be quoted");
            return self.fail(error.replace(span, format!("{text:?}")));
        }
        Ok(Literal { kind: LiteralKind::Text(text), span })
    }

    /// Parses the set of values with which a field is compared.
    fn set(&mut self, selector: &Selector) -> Result<Vec<Literal>, Fault> {
        self.expect(|| Place::Open)?;
        let open = self.peek().span;
        if self.peek().kind != TokenKind::Open {
            let error = self.unexpected("`(`");
            return self.fail(error.label("as in `in (1, 2)`"));
        }
        self.at += 1;
        let values = self.values(selector, open);
        if values.is_err() {
            self.skip_term();
        }
        if self.peek().kind == TokenKind::Close {
            self.at += 1;
        }
        values
    }

    /// Parses the values of a set, up to its closing parenthesis.
    fn values(&mut self, selector: &Selector, open: Span) -> Result<Vec<Literal>, Fault> {
        let mut values = Vec::new();
        loop {
            self.expect_value(|| Place::Element(selector.clone()))?;
            match self.peek().kind {
                TokenKind::Close if values.is_empty() => {
                    let span = Span { start: open.start, end: self.peek().span.end };
                    return self.fail(Diagnostic::new(span, "empty set"));
                }
                TokenKind::End => break,
                _ => values.push(self.value()?),
            }
            self.expect(|| Place::AfterElement)?;
            match self.peek().kind {
                TokenKind::Comma => self.at += 1,
                TokenKind::Close => return Ok(values),
                TokenKind::End => break,
                TokenKind::Bad => return Err(Fault),
                _ => {
                    let error = self.unexpected("`,` or `)`");
                    return self.fail(error);
                }
            }
        }
        self.fail(Diagnostic::new(open, "unclosed `(`"))
    }

    /// Adds an error, and fails the current term.
    fn fail<T>(&mut self, error: Diagnostic) -> Result<T, Fault> {
        if !self.is_abandoned {
            self.report(Some(error));
        }
        Err(Fault)
    }

    /// Adds an error, unless the text before a cursor is parsed.
    fn report(&mut self, error: Option<Diagnostic>) {
        if !self.stops {
            self.errors.extend(error);
        }
    }

    /// Stops at the cursor if it is at the next token, or in it if it is a word.
    fn expect(&mut self, place: impl FnOnce() -> Place) -> Result<(), Fault> {
        let Token { kind, span } = self.peek();
        let start = match kind {
            TokenKind::End => self.text.len(),
            TokenKind::Word(_) if self.touches(0) => span.start as usize,
            _ => return Ok(()),
        };
        if self.stops { self.stop(place(), start) } else { Ok(()) }
    }

    /// Stops at the cursor if it is at the next token, or in it if it is a name.
    fn expect_name(&mut self, place: impl FnOnce() -> Place) -> Result<(), Fault> {
        let Token { kind, span } = self.peek();
        if *kind == TokenKind::Bad && self.touches(0) && self.starts_with(*span, &['`']) {
            return self.stop(place(), span.start as usize);
        }
        self.expect(place)
    }

    /// Stops at the cursor if it is at, or in, a relation or the word `in` after `not`.
    fn expect_relation(&mut self, selector: &Selector) -> Result<(), Fault> {
        let Token { kind, span } = self.peek();
        let is_partial = match kind {
            TokenKind::Relation(_) => span.end - span.start == 1,
            kind => *kind == TokenKind::Not,
        };
        if is_partial && self.touches(0) {
            return self.stop(Place::Relation(selector.clone()), span.start as usize);
        }
        self.expect(|| Place::Relation(selector.clone()))?;
        if self.peek().kind.is_word("not") || self.peek().kind == TokenKind::Not {
            self.at += 1;
            self.expect(|| Place::In)?;
            self.at -= 1;
        }
        Ok(())
    }

    /// Stops at the cursor if it is at, or in, a value: a pattern, words that are joined by
    /// points, text without its second quote, or any other literal.
    fn expect_value(&mut self, place: impl FnOnce() -> Place) -> Result<(), Fault> {
        let is = |at: usize, kind: &TokenKind| self.peek_at(at).kind == *kind;
        let is_word = |at: usize| matches!(self.peek_at(at).kind, TokenKind::Word(_));
        let last = match pattern_len(&self.tokens[self.at..]) {
            Some(len) => len - 1,
            None => {
                let mut last = 0;
                while is_word(last) && is(last + 1, &TokenKind::Dot) {
                    last += 1 + usize::from(is_word(last + 2));
                }
                last
            }
        };
        let Token { kind, span } = self.peek();
        let is_quoted = self.starts_with(*span, &['"', '\'']);
        let is_partial = match kind {
            TokenKind::Word(_) | TokenKind::Pattern(_) | TokenKind::Star => true,
            TokenKind::Literal(_) => !is_quoted,
            kind => *kind == TokenKind::Bad && is_quoted,
        };
        match is_partial && self.touches(last) {
            true => self.stop(place(), span.start as usize),
            false if *kind == TokenKind::End => self.expect(place),
            false => Ok(()),
        }
    }

    /// Returns `true` if the cursor is directly after a token.
    fn touches(&self, ahead: usize) -> bool {
        self.stops && self.peek_at(ahead).span.end as usize == self.text.len()
    }

    fn starts_with(&self, span: Span, quotes: &[char]) -> bool {
        self.text[span.start as usize..].starts_with(quotes)
    }

    /// Stops at the cursor, where this is expected.
    fn stop<T>(&mut self, place: Place, start: usize) -> Result<T, Fault> {
        if !self.is_abandoned {
            let terms = std::mem::take(&mut self.terms);
            self.expected = Some(Expected { place, start, terms, groups: self.groups });
        }
        self.is_abandoned = true;
        self.at = self.tokens.len() - 1;
        Err(Fault)
    }

    /// Adds an error and abandons parsing, because the rest cannot be parsed sensibly.
    fn abandon<T>(&mut self, error: Diagnostic) -> Result<T, Fault> {
        let failed = self.fail(error);
        self.at = self.tokens.len() - 1;
        self.is_abandoned = true;
        failed
    }

    /// Creates the error that something else was expected in place of the next token.
    fn unexpected(&self, expected: &str) -> Diagnostic {
        let Token { kind, span } = self.peek();
        let found = match kind {
            TokenKind::End => "the end".to_owned(),
            _ => {
                let text = &self.text[span.start as usize..span.end as usize];
                if text.chars().count() > 30 {
                    format!("`{}…`", text.chars().take(30).collect::<String>())
                } else {
                    format!("`{text}`")
                }
            }
        };
        Diagnostic::new(*span, format!("expected {expected}, found {found}"))
    }

    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        let last = self.tokens.len() - 1; // `End` is always there
        &self.tokens[(self.at + ahead).min(last)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Returns the end of the previous token.
    fn last_end(&self) -> u32 {
        self.tokens[self.at.min(self.tokens.len() - 1).saturating_sub(1)].span.end
    }
}

fn is_truth(word: &str) -> bool {
    word.eq_ignore_ascii_case("true") || word.eq_ignore_ascii_case("false")
}
