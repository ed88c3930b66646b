//! Reading of events in every way, as the values that were written.

use std::collections::{HashMap, HashSet};

use ltt_read::FieldInfo;
use ltt_read::schema::{EventTypeId, FieldClass, FieldKind, Scope};
use ltt_read::writer::FieldValue;
use ltt_read::{ArrayView, Event, Field, StrValue, Value as Read, Visitor};
use proptest::prelude::*;

use super::case::Expected;
use super::values::same;

/// A reader of events that keeps field handles, as analyses do.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    handles: HashMap<(EventTypeId, Scope), HashMap<String, Option<Field>>>,
}

impl Reader {
    /// Reads an event by a visitor. Fails if values or handles differ from it.
    pub(crate) fn read(&mut self, event: Event<'_>) -> Result<Expected, TestCaseError> {
        let mut scopes = [const { FieldValue::Auto }; 6];
        for scope in Scope::ALL {
            let visited = visit(event, scope);
            let root = event.scope(scope).map(|root| plain(&Read::Struct(root)));
            let expected = visited.as_ref().and_then(flat);
            prop_assert!(alike(&expected, &root), "{scope:?}: {expected:?} by values is {root:?}");
            prop_assert_eq!(event.has_scope(scope), visited.is_some());
            if let (Some(visited), Some(class)) =
                (&visited, event.trace().schema().root(event.type_id(), scope))
            {
                self.check_handles(event, scope, class, visited)?;
            }
            scopes[scope as usize] = visited.unwrap_or_default();
        }
        let [_, _, _, common_context, specific_context, payload] = scopes;
        Ok(Expected {
            event_type: event.type_id(),
            timestamp: event.cycles(),
            common_context,
            specific_context,
            payload,
        })
    }

    /// Reads every field below a root through its handles, and the fields that this event
    /// lacks but other events of its type had.
    fn check_handles(
        &mut self,
        event: Event<'_>,
        scope: Scope,
        class: &FieldClass,
        visited: &FieldValue,
    ) -> Result<(), TestCaseError> {
        let mut paths = Paths::default();
        paths.below(class, visited, "");
        let known = self.handles.entry((event.type_id(), scope)).or_default();
        let find = |path: &str| event.trace().field(event.type_id(), scope, path);
        for (path, expected) in &paths.there {
            let handle = known.entry(path.clone()).or_insert_with(|| find(path));
            let Some(handle) = handle else {
                return Err(TestCaseError::fail(format!("{scope:?}: no handle for {path}")));
            };
            let read = event.get(handle).map(|v| plain(&v));
            prop_assert!(alike(expected, &read), "{scope:?} {path}: {expected:?}, got {read:?}");
            let number = match expected {
                Some(FieldValue::Uint(n)) => Some(*n),
                Some(FieldValue::Sint(n)) => Some(*n as u64),
                _ => None,
            };
            let integer = event.integer(handle);
            // Not all integers can be read in this way, but fixed-size members can.
            let must = matches!(handle.info().class().kind, FieldKind::Integer(..))
                && path.bytes().all(|b| b != b'.' && b != b'[');
            prop_assert!(integer == number || !must && integer.is_none(), "{scope:?} {path}");
        }
        let there: HashSet<&str> = paths.there.iter().map(|(path, _)| &**path).collect();
        for (path, handle) in known.iter() {
            if let Some(handle) = handle.as_ref().filter(|_| !there.contains(&**path)) {
                prop_assert!(event.get(handle).is_none(), "{scope:?} {path} is not there");
                prop_assert!(event.integer(handle).is_none(), "{scope:?} {path} is not there");
            }
        }
        Ok(())
    }
}

/// Paths of fields, with their values.
#[derive(Default)]
struct Paths {
    there: Vec<(String, Option<FieldValue>)>,
}

impl Paths {
    fn add(&mut self, class: &FieldClass, value: &FieldValue, path: String) {
        self.below(class, value, &path);
        self.there.push((path, flat(value)));
    }

    fn below(&mut self, class: &FieldClass, value: &FieldValue, path: &str) {
        match (&class.kind, value) {
            (FieldKind::Struct(s), FieldValue::Struct(values)) => {
                let dot = if path.is_empty() { "" } else { "." };
                for (member, value) in s.members.iter().zip(values) {
                    self.add(&member.class, value, format!("{path}{dot}{}", member.name));
                }
            }
            (FieldKind::Array(a), FieldValue::Array(elements)) => {
                for (i, element) in elements.iter().enumerate() {
                    self.add(&a.element, element, format!("{path}[{i}]"));
                }
            }
            (FieldKind::Option(o), FieldValue::Option(Some(content))) => {
                self.below(&o.class, content, path);
            }
            // A path may name the option, or leave the variant out. If a step can be the
            // name of an option, it is.
            (FieldKind::Variant(v), FieldValue::Variant { option, value }) => {
                let option = &v.options[*option];
                let mut inner = Paths::default();
                inner.below(&option.class, value, path);
                inner.there.retain(|(inner, _)| {
                    let step = inner[path.len()..].trim_start_matches('.');
                    let step = step.split(['.', '[']).next();
                    v.options.iter().all(|o| o.name.as_deref() != step)
                });
                self.there.append(&mut inner.there);
                if let Some(name) = &option.name {
                    self.add(&option.class, value, format!("{path}.{name}"));
                }
            }
            _ => {}
        }
    }
}

/// Removes the variants and options, which are not part of values of fields.
fn flat(value: &FieldValue) -> Option<FieldValue> {
    match value {
        FieldValue::Option(content) => flat(content.as_deref()?),
        FieldValue::Variant { value, .. } => flat(value),
        FieldValue::Struct(members) => {
            Some(FieldValue::Struct(members.iter().filter_map(flat).collect()))
        }
        FieldValue::Array(elements) => {
            Some(FieldValue::Array(elements.iter().filter_map(flat).collect()))
        }
        other => Some(other.clone()),
    }
}

fn plain(value: &Read<'_>) -> FieldValue {
    match value {
        Read::Uint(n) => FieldValue::Uint(*n),
        Read::Sint(n) => FieldValue::Sint(*n),
        Read::Bool(b) => FieldValue::Bool(*b),
        Read::Bits(n) => FieldValue::Bits(*n),
        Read::Float(x) => FieldValue::Float(*x),
        Read::Str(s) => FieldValue::Str(s.to_str_lossy().into_owned()),
        Read::Blob(bytes) => FieldValue::Bytes(bytes.to_vec()),
        Read::Struct(s) => FieldValue::Struct(s.members().map(|(_, v)| plain(&v)).collect()),
        Read::Array(a) => FieldValue::Array(elements(a)),
        other => unreachable!("a new kind of value: {other:?}"),
    }
}

/// Returns the elements in order, which must equal the elements read one by one.
fn elements(array: &ArrayView<'_>) -> Vec<FieldValue> {
    let in_order: Vec<FieldValue> = array.iter().map(|v| plain(&v)).collect();
    let one_by_one = (0..array.len()).filter_map(|i| array.get(i)).map(|v| plain(&v)).collect();
    assert!(same(&FieldValue::Array(one_by_one), &FieldValue::Array(in_order.clone())));
    in_order
}

fn alike(a: &Option<FieldValue>, b: &Option<FieldValue>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (a, b) => a.is_none() == b.is_none(),
    }
}

fn visit(event: Event<'_>, scope: Scope) -> Option<FieldValue> {
    let mut tree = Tree { open: vec![Vec::new()], ..Tree::default() };
    event.visit(scope, &mut tree);
    let [mut root] = <[_; 1]>::try_from(tree.open).expect("all that began has ended");
    assert!(root.len() <= 1);
    root.pop()
}

/// A visitor that builds a tree of values.
#[derive(Default)]
struct Tree {
    /// The members so far of all open compounds, the outermost first.
    open: Vec<Vec<FieldValue>>,
    /// The selected options of the variants among them.
    options: Vec<usize>,
    /// The lengths of the arrays among them.
    lengths: Vec<u64>,
}

impl Tree {
    fn add(&mut self, value: FieldValue) {
        self.open.last_mut().expect("something is open").push(value);
    }

    fn begin(&mut self) {
        self.open.push(Vec::new());
    }

    fn end(&mut self, make: impl FnOnce(Vec<FieldValue>) -> FieldValue) {
        let parts = self.open.pop().expect("something is open");
        self.add(make(parts));
    }
}

impl Visitor for Tree {
    fn uint(&mut self, _: &FieldInfo, value: u64) {
        self.add(FieldValue::Uint(value));
    }
    fn sint(&mut self, _: &FieldInfo, value: i64) {
        self.add(FieldValue::Sint(value));
    }
    fn boolean(&mut self, _: &FieldInfo, value: bool) {
        self.add(FieldValue::Bool(value));
    }
    fn bits(&mut self, _: &FieldInfo, value: u64) {
        self.add(FieldValue::Bits(value));
    }
    fn float(&mut self, _: &FieldInfo, value: f64) {
        self.add(FieldValue::Float(value));
    }
    fn string(&mut self, _: &FieldInfo, value: StrValue<'_>) {
        self.add(FieldValue::Str(value.to_str_lossy().into_owned()));
    }
    fn blob(&mut self, _: &FieldInfo, value: &[u8]) {
        self.add(FieldValue::Bytes(value.to_vec()));
    }
    fn begin_struct(&mut self, _: &FieldInfo) {
        self.begin();
    }
    fn end_struct(&mut self, _: &FieldInfo) {
        self.end(FieldValue::Struct);
    }
    fn begin_array(&mut self, _: &FieldInfo, len: u64) {
        self.lengths.push(len);
        self.begin();
    }
    fn end_array(&mut self, _: &FieldInfo) {
        let len = self.lengths.pop().expect("an array has begun");
        self.end(|elements| {
            assert_eq!(elements.len() as u64, len);
            FieldValue::Array(elements)
        });
    }
    fn begin_variant(&mut self, _: &FieldInfo, option: usize) {
        self.options.push(option);
        self.begin();
    }
    fn end_variant(&mut self, _: &FieldInfo) {
        let option = self.options.pop().expect("a variant has begun");
        self.end(|mut content| {
            assert_eq!(content.len(), 1);
            FieldValue::variant(option, content.remove(0))
        });
    }
    fn begin_option(&mut self, _: &FieldInfo, _: bool) {
        self.begin();
    }
    fn end_option(&mut self, _: &FieldInfo) {
        self.end(|mut content| FieldValue::Option(content.pop().map(Box::new)));
    }
}
