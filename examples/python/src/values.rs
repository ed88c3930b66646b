//! Python objects of recorded values.
//!
//! | field | object |
//! |---|---|
//! | integer | `int` |
//! | enumeration, bit map | `lttv.Label`, an `int` with the labels or flags |
//! | boolean, float | `bool`, `float` |
//! | bit array | `int` |
//! | text | `str`, with surrogate escapes in place of bytes that are not UTF-8 |
//! | blob, array of unsigned 8-bit integers | `bytes` |
//! | other array, structure | `list`, `dict` |
//! | option | its content, or `None` |
//! | variant | the selected option |

use std::collections::HashMap;
use std::sync::Arc;

use ltt_read::schema::{Encoding, FieldClass, FieldKind};
use ltt_read::{FieldInfo, StrValue, Value, Visitor};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The greatest number of labels of one field that are stored.
const MAX_LABELS: usize = 1024;

/// The names of the fields of one event type, and the labels that occurred.
#[derive(Debug, Default)]
pub(crate) struct Slots(Vec<Slot>);

#[derive(Debug, Default)]
struct Slot {
    name: Option<Py<PyString>>,
    labels: HashMap<i128, Py<PyAny>>,
}

impl Slots {
    fn of(&mut self, field: &FieldInfo) -> &mut Slot {
        let index = field.index();
        if self.0.len() <= index {
            self.0.resize_with(index + 1, Slot::default);
        }
        &mut self.0[index]
    }

    fn name<'py>(&mut self, py: Python<'py>, field: &FieldInfo) -> Bound<'py, PyString> {
        let name = &mut self.of(field).name;
        let name =
            name.get_or_insert_with(|| PyString::intern(py, field.name().unwrap_or("")).unbind());
        name.bind(py).clone()
    }

    fn integer<'py>(
        &mut self,
        py: Python<'py>,
        field: &FieldInfo,
        number: impl Into<i128> + IntoPyObject<'py, Target = PyInt> + Copy,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !has_labels(field.class()) {
            return plain(py, number);
        }
        let labels = &mut self.of(field).labels;
        if let Some(known) = labels.get(&number.into()) {
            return Ok(known.bind(py).clone());
        }
        let label = label(py, field.class(), number)?;
        if labels.len() < MAX_LABELS {
            labels.insert(number.into(), label.clone().unbind());
        }
        Ok(label)
    }
}

fn plain<'py>(
    py: Python<'py>,
    number: impl IntoPyObject<'py, Target = PyInt>,
) -> PyResult<Bound<'py, PyAny>> {
    number.into_bound_py_any(py)
}

/// Returns `true` for fields whose numbers have names.
fn has_labels(class: &FieldClass) -> bool {
    match &class.kind {
        FieldKind::Integer(_, integer) | FieldKind::VarInteger(integer) => {
            integer.mappings.is_some()
        }
        FieldKind::BitMap(..) => true,
        _ => false,
    }
}

/// Returns a number with its labels or flags.
fn label<'py>(
    py: Python<'py>,
    class: &FieldClass,
    number: impl Into<i128> + IntoPyObject<'py, Target = PyInt> + Copy,
) -> PyResult<Bound<'py, PyAny>> {
    static LABEL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let value: i128 = number.into();
    let labels: Vec<&str> = match &class.kind {
        FieldKind::BitMap(..) => class.flags(value).unwrap_or_default(),
        _ => {
            let all = class.mappings().unwrap_or_default().iter();
            let has = |ranges: &[(i128, i128)]| {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&value))
            };
            all.filter(|mapping| has(&mapping.ranges)).map(|mapping| &*mapping.label).collect()
        }
    };
    LABEL.import(py, "lttv._label", "Label")?.call1((number, PyTuple::new(py, labels)?))
}

/// Returns a text.
pub(crate) fn text<'py>(py: Python<'py>, value: StrValue<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value.encoding {
        Encoding::Utf8 => match std::str::from_utf8(value.bytes) {
            Ok(text) => Ok(PyString::new(py, text).into_any()),
            Err(_) => {
                let bytes = PyBytes::new(py, value.bytes);
                bytes.call_method1("decode", ("utf-8", "surrogateescape"))
            }
        },
        _ => Ok(PyString::new(py, &value.to_str_lossy()).into_any()),
    }
}

/// Returns `true` for an array that becomes `bytes`.
fn is_bytes(class: &FieldClass) -> bool {
    let FieldKind::Array(array) = &class.kind else { return false };
    match &array.element.kind {
        FieldKind::Integer(len, integer) => {
            len.bits == 8 && !integer.signed && integer.mappings.is_none()
        }
        _ => false,
    }
}

/// Returns the object of a value without parts; `None` for other values.
pub(crate) fn scalar<'py>(
    py: Python<'py>,
    slots: &mut Slots,
    field: &FieldInfo,
    value: &Value<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(Some(match value {
        Value::Uint(number) | Value::Bits(number) => slots.integer(py, field, *number)?,
        Value::Sint(number) => slots.integer(py, field, *number)?,
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Str(value) => text(py, *value)?,
        Value::Blob(bytes) => PyBytes::new(py, bytes).into_any(),
        _ => return Ok(None),
    }))
}

/// A visitor that adds the fields of a scope to a dictionary.
pub(crate) struct Builder<'a, 'py> {
    py: Python<'py>,
    slots: &'a mut Slots,
    root: Bound<'py, PyDict>,
    /// `true` within the root structure of the scope.
    is_within: bool,
    /// The parts that have begun, each with its name.
    open: Vec<(Part<'py>, Option<Bound<'py, PyString>>)>,
    /// The name of the option or variant that has begun.
    pending: Option<Bound<'py, PyString>>,
    failure: Option<PyErr>,
}

enum Part<'py> {
    Struct(Bound<'py, PyDict>),
    Array(Bound<'py, PyList>),
    Bytes(Vec<u8>),
}

impl<'a, 'py> Builder<'a, 'py> {
    pub(crate) fn new(root: Bound<'py, PyDict>, slots: &'a mut Slots) -> Self {
        let py = root.py();
        Builder {
            py,
            slots,
            root,
            is_within: false,
            open: Vec::new(),
            pending: None,
            failure: None,
        }
    }

    /// Returns the first failure.
    pub(crate) fn finish(self) -> PyResult<()> {
        self.failure.map_or(Ok(()), Err)
    }

    fn put(&mut self, field: &FieldInfo, value: PyResult<Bound<'py, PyAny>>) {
        let name = self.pending.take();
        let result = value.and_then(|value| match self.open.last_mut() {
            None => {
                let name = name.unwrap_or_else(|| self.slots.name(self.py, field));
                self.root.set_item(name, value)
            }
            Some((Part::Struct(of), _)) => {
                let name = name.unwrap_or_else(|| self.slots.name(self.py, field));
                of.set_item(name, value)
            }
            Some((Part::Array(of), _)) => of.append(value),
            Some((Part::Bytes(_), _)) => Ok(()),
        });
        self.note(result);
    }

    fn note(&mut self, result: PyResult<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }

    /// Begins a part.
    fn begin(&mut self, field: &FieldInfo, part: Part<'py>) {
        let is_named = !matches!(self.open.last(), Some((Part::Array(_), _)));
        let pending = self.pending.take();
        let name = is_named.then(|| pending.unwrap_or_else(|| self.slots.name(self.py, field)));
        self.open.push((part, name));
    }

    /// Ends the part that began last.
    fn end(&mut self, field: &FieldInfo) {
        let Some((part, name)) = self.open.pop() else { return };
        self.pending = name;
        let value = match part {
            Part::Struct(of) => of.into_any(),
            Part::Array(of) => of.into_any(),
            Part::Bytes(bytes) => PyBytes::new(self.py, &bytes).into_any(),
        };
        self.put(field, Ok(value));
    }

    /// Begins an option or variant, whose content has its name.
    fn begin_choice(&mut self, field: &FieldInfo) {
        if self.pending.is_none() && !matches!(self.open.last(), Some((Part::Array(_), _))) {
            self.pending = Some(self.slots.name(self.py, field));
        }
    }
}

impl Visitor for Builder<'_, '_> {
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        if let Some((Part::Bytes(bytes), _)) = self.open.last_mut() {
            return bytes.push(value as u8);
        }
        let number = self.slots.integer(self.py, field, value);
        self.put(field, number);
    }

    fn sint(&mut self, field: &FieldInfo, value: i64) {
        let number = self.slots.integer(self.py, field, value);
        self.put(field, number);
    }

    fn boolean(&mut self, field: &FieldInfo, value: bool) {
        let value = PyBool::new(self.py, value).to_owned().into_any();
        self.put(field, Ok(value));
    }

    fn bits(&mut self, field: &FieldInfo, value: u64) {
        let number = self.slots.integer(self.py, field, value);
        self.put(field, number);
    }

    fn float(&mut self, field: &FieldInfo, value: f64) {
        self.put(field, Ok(PyFloat::new(self.py, value).into_any()));
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        let text = text(self.py, value);
        self.put(field, text);
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        self.put(field, Ok(PyBytes::new(self.py, value).into_any()));
    }

    fn begin_struct(&mut self, field: &FieldInfo) {
        if !std::mem::replace(&mut self.is_within, true) {
            return;
        }
        let of = PyDict::new(self.py);
        self.begin(field, Part::Struct(of));
    }

    fn end_struct(&mut self, field: &FieldInfo) {
        self.end(field);
    }

    fn begin_array(&mut self, field: &FieldInfo, _: u64) {
        let part = match is_bytes(field.class()) {
            true => Part::Bytes(Vec::new()),
            false => Part::Array(PyList::empty(self.py)),
        };
        self.begin(field, part);
    }

    fn end_array(&mut self, field: &FieldInfo) {
        self.end(field);
    }

    fn begin_variant(&mut self, field: &FieldInfo, _: usize) {
        self.begin_choice(field);
    }

    fn begin_option(&mut self, field: &FieldInfo, present: bool) {
        self.begin_choice(field);
        if !present {
            let none = self.py.None().into_bound(self.py);
            self.put(field, Ok(none));
        }
    }
}

/// Returns a short name of the type that the objects of a field class have.
pub(crate) fn type_name(class: &Arc<FieldClass>) -> String {
    match &class.kind {
        FieldKind::Integer(len, integer) => {
            let kind = if integer.signed { "int" } else { "uint" };
            let label = if integer.mappings.is_some() { "enum " } else { "" };
            format!("{label}{kind}{}", len.bits)
        }
        FieldKind::VarInteger(integer) => {
            let label = if integer.mappings.is_some() { "enum " } else { "" };
            format!("{label}{}", if integer.signed { "int" } else { "uint" })
        }
        FieldKind::Bool(..) => "bool".to_owned(),
        FieldKind::Float(len) => format!("float{}", len.bits),
        FieldKind::BitArray(_) => "bits".to_owned(),
        FieldKind::BitMap(..) => "flags".to_owned(),
        FieldKind::String(_) => "str".to_owned(),
        FieldKind::Blob(_) => "bytes".to_owned(),
        FieldKind::Array(_) if is_bytes(class) => "bytes".to_owned(),
        FieldKind::Array(array) => format!("list[{}]", type_name(&array.element)),
        FieldKind::Struct(_) => "dict".to_owned(),
        FieldKind::Option(option) => format!("{} | None", type_name(&option.class)),
        FieldKind::Variant(variant) => {
            let mut names: Vec<String> =
                variant.options.iter().map(|option| type_name(&option.class)).collect();
            names.sort();
            names.dedup();
            names.join(" | ")
        }
        _ => "object".to_owned(),
    }
}
