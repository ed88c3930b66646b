//! Layouts: schemas compiled for decoding.

use std::sync::Arc;

use crate::schema::FieldClass;

/// What is known of a field before any event is read: name and class.
#[derive(Debug, Clone)]
pub struct FieldInfo {
    name: Option<Arc<str>>,
    class: Arc<FieldClass>,
}

impl FieldInfo {
    /// A field of this name and class.
    pub fn new(name: Option<Arc<str>>, class: Arc<FieldClass>) -> Self {
        FieldInfo { name, class }
    }

    /// Member or option name; `None` for array elements and roots.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its field class.
    pub fn class(&self) -> &FieldClass {
        &self.class
    }
}
