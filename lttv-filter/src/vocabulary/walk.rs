//! The fields of a class, with the steps that lead to them.

use ltt_read::schema::{FieldClass, FieldKind, Length};

use crate::model::FieldType;
use crate::syntax::{Step, StepKind};
use crate::trace::field_type;

/// The maximum number of levels of members and elements.
const MAX_DEPTH: usize = 16;

/// The maximum number of classes visited.
const MAX_CLASSES: usize = 4000;

/// Calls a function with the steps to each field of a class that is no structure, and with
/// its type. Of arrays there are the array itself and the fields of its first element.
pub(super) fn fields(class: &FieldClass, mut found: impl FnMut(&[Step], FieldType)) {
    let mut left = MAX_CLASSES;
    go(class, &mut Vec::new(), &mut left, &mut found);
}

fn go(
    class: &FieldClass,
    steps: &mut Vec<Step>,
    left: &mut usize,
    found: &mut impl FnMut(&[Step], FieldType),
) {
    if steps.len() > MAX_DEPTH || *left == 0 {
        return;
    }
    // Counted also where nothing is found, since options can be nested in any number.
    *left -= 1;
    match &class.kind {
        FieldKind::Struct(s) => {
            for member in &s.members {
                steps.push(Step::new(StepKind::Name(member.name.to_string())));
                go(&member.class, steps, left, found);
                steps.pop();
            }
        }
        FieldKind::Option(option) => go(&option.class, steps, left, found),
        FieldKind::Variant(variant) => {
            for option in &variant.options {
                go(&option.class, steps, left, found);
            }
        }
        FieldKind::Array(array) => {
            found(steps, field_type(class));
            if !matches!(array.length, Length::Static(0)) {
                steps.push(Step::new(StepKind::Index(0)));
                go(&array.element, steps, left, found);
                steps.pop();
            }
        }
        _ => found(steps, field_type(class)),
    }
}
