//! A parser of the output of `babeltrace2 --names=all --fields=all`, independent of trace
//! formats.

/// An event in babeltrace's output.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) ns: i64,
    pub(crate) name: String,
    /// The log level, such as `TRACE_INFO`, and its number, if printed.
    pub(crate) loglevel: Option<i128>,
    scopes: Vec<(&'static str, Value)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Int(i128),
    Float(f64),
    Text(String),
    /// The labels and the number.
    Enum(Vec<String>, i128),
    Struct(Vec<(String, Value)>),
    Array(Vec<Value>),
}

const SCOPES: [&str; 4] =
    ["stream.packet.context", "stream.event.context", "event.context", "event.fields"];

impl Line {
    pub(crate) fn parse(text: &str) -> Line {
        let between = |begin: &str, end: &str| {
            let rest = &text[text.find(begin)? + begin.len()..];
            Some(&rest[..rest.find(end).unwrap_or(rest.len())])
        };
        let (s, ns) = between("timestamp = ", ",").and_then(|t| t.split_once('.')).expect("a time");
        let number = |t: &str| t.parse::<i64>().expect("a number");
        let level = between("loglevel = ", ",").and_then(|t| t.split_once('('));
        let scope = |name: &&'static str| {
            let begin = format!(", {name} = ");
            let at = text.find(&begin)? + begin.len();
            Some((*name, Parser { rest: &text[at..] }.value()))
        };
        Line {
            ns: number(s) * 1_000_000_000 + number(ns),
            name: between(", name = ", ",").expect("a name").to_owned(),
            loglevel: level.map(|(_, n)| number(n.trim_end_matches(')')).into()),
            scopes: SCOPES.iter().filter_map(scope).collect(),
        }
    }

    /// Returns the value at a path in a scope: `pollfds.0.fd`.
    fn at(&self, scope: &str, path: &str) -> Option<&Value> {
        let (_, whole) = self.scopes.iter().find(|(name, _)| *name == scope)?;
        path.split('.').try_fold(whole, |value, step| match value {
            Value::Struct(members) => Some(&members.iter().find(|(name, _)| name == step)?.1),
            Value::Array(elements) => elements.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    pub(crate) fn field(&self, path: &str) -> Option<&Value> {
        self.at("event.fields", path)
    }

    pub(crate) fn int(&self, path: &str) -> Option<i128> {
        self.field(path)?.int()
    }

    pub(crate) fn float(&self, path: &str) -> Option<f64> {
        match self.field(path)? {
            Value::Float(x) => Some(*x),
            value => Some(value.int()? as f64),
        }
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.field(path)?.text()
    }

    pub(crate) fn labels(&self, path: &str) -> Option<&[String]> {
        match self.field(path)? {
            Value::Enum(labels, _) => Some(labels),
            _ => None,
        }
    }

    /// Returns a field of the context that all events of a stream have.
    pub(crate) fn context(&self, path: &str) -> Option<&Value> {
        self.at("stream.event.context", path)
    }

    pub(crate) fn cpu(&self) -> i128 {
        self.at("stream.packet.context", "cpu_id").and_then(Value::int).expect("a CPU")
    }
}

impl Value {
    pub(crate) fn int(&self) -> Option<i128> {
        match self {
            Value::Int(n) | Value::Enum(_, n) => Some(*n),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// Skips a text if it is next. Returns whether it was.
    fn has(&mut self, token: &str) -> bool {
        let trimmed = self.rest.trim_start();
        let after = trimmed.strip_prefix(token);
        self.rest = after.unwrap_or(trimmed);
        after.is_some()
    }

    fn until(&mut self, ends: &[char]) -> &'t str {
        let trimmed = self.rest.trim_start();
        let (word, rest) = trimmed.split_at(trimmed.find(ends).unwrap_or(trimmed.len()));
        self.rest = rest;
        word.trim_end()
    }

    fn value(&mut self) -> Value {
        if self.has("{") {
            return self.members();
        }
        if self.has("[") {
            let mut elements = Vec::new();
            while !self.has("]") {
                assert!(self.has("["), "an index: {}", self.rest);
                self.until(&[']']);
                assert!(self.has("]") && self.has("="), "{}", self.rest);
                elements.push(self.value());
                self.has(",");
            }
            return Value::Array(elements);
        }
        if self.has("(") {
            return self.labels();
        }
        if self.has("\"") {
            return Value::Text(self.quoted());
        }
        let word = self.until(&[',', ' ', '}', ']', ')']);
        if let Some(hex) = word.strip_prefix("0x") {
            return Value::Int(i128::from_str_radix(hex, 16).expect(word));
        }
        match word.parse::<i128>() {
            Ok(n) => Value::Int(n),
            Err(_) => Value::Float(word.parse().expect(word)),
        }
    }

    /// Parses the members of a structure; a variant has one member without a name.
    fn members(&mut self) -> Value {
        let mut members = Vec::new();
        while !self.has("}") {
            let rest = self.rest;
            let name = self.until(&['=', ',', '"', '}', '{', '[', '(']);
            if self.has("=") {
                members.push((name.to_owned(), self.value()));
            } else {
                self.rest = rest;
                let only = self.value();
                assert!(self.has("}"), "{}", self.rest);
                return only;
            }
            self.has(",");
        }
        Value::Struct(members)
    }

    /// Parses `"A" : container = 5 )`, `{ "A", "B" } : …` or `<unknown> : …`.
    fn labels(&mut self) -> Value {
        let mut labels = Vec::new();
        self.has("<unknown>");
        self.has("{");
        while !self.has(":") {
            if self.has("\"") {
                labels.push(self.quoted());
            } else {
                assert!(self.has(",") || self.has("}"), "{}", self.rest);
            }
        }
        assert!(self.has("container") && self.has("="), "{}", self.rest);
        let number = self.value().int().expect("a number");
        assert!(self.has(")"), "{}", self.rest);
        Value::Enum(labels, number)
    }

    fn quoted(&mut self) -> String {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => text.push(match chars.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('"') => '"',
                    Some('\\') => '\\',
                    Some('x') => {
                        let digits: String = chars.by_ref().take(2).collect();
                        u8::from_str_radix(&digits, 16).expect(&digits).into()
                    }
                    other => panic!("the escape {other:?}"),
                }),
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        text
    }
}
