//! All fields of an event, with the selectors for them.

use ltt_read::schema::{FieldClass, FieldKind, Length};
use ltt_read::writer::FieldValue;
use lttv_filter::StepKind;

/// A field of an event.
#[derive(Debug, Clone)]
pub(crate) struct There<'c> {
    pub(crate) path: Vec<StepKind>,
    pub(crate) class: &'c FieldClass,
    pub(crate) value: FieldValue,
}

/// Returns all fields below one, options of variants by name and without.
pub(crate) fn below<'c>(
    class: &'c FieldClass,
    value: &FieldValue,
    path: &mut Vec<StepKind>,
    all: &mut Vec<There<'c>>,
) {
    let mut step = |step: StepKind, class: &'c FieldClass, value: &FieldValue| {
        path.push(step);
        below(class, value, path, all);
        path.pop();
    };
    match (&class.kind, value) {
        (FieldKind::Struct(s), FieldValue::Struct(values)) => {
            for (member, value) in s.members.iter().zip(values) {
                step(StepKind::Name(member.name.to_string()), &member.class, value);
            }
        }
        (FieldKind::Array(array), FieldValue::Array(values)) => {
            for (index, value) in (0..).zip(values) {
                step(StepKind::Index(index), &array.element, value);
            }
        }
        (FieldKind::Option(option), FieldValue::Option(Some(value))) => {
            below(&option.class, value, path, all);
            return;
        }
        (FieldKind::Variant(variant), FieldValue::Variant { option, value }) => {
            let option = &variant.options[*option];
            if let Some(name) = &option.name {
                step(StepKind::Name(name.to_string()), &option.class, value);
            }
            below(&option.class, value, path, all);
            return;
        }
        _ => {}
    }
    all.push(There { path: path.clone(), class, value: value.clone() });
}

/// Returns the field that steps lead to.
pub(crate) fn at<'a>(
    class: &'a FieldClass,
    value: &'a FieldValue,
    steps: &[StepKind],
) -> Option<(&'a FieldClass, &'a FieldValue)> {
    let first = steps.first();
    match (&class.kind, value) {
        (FieldKind::Option(option), FieldValue::Option(content)) => {
            at(&option.class, content.as_deref()?, steps)
        }
        (FieldKind::Variant(variant), FieldValue::Variant { option, value }) => {
            let named = |name: &String| {
                variant.options.iter().position(|o| o.name.as_deref() == Some(&**name))
            };
            let class = &variant.options[*option].class;
            match first {
                Some(StepKind::Name(name)) if named(name).is_some() => {
                    (named(name) == Some(*option)).then(|| at(class, value, &steps[1..]))?
                }
                _ => at(class, value, steps),
            }
        }
        (_, _) if first.is_none() => Some((class, value)),
        (FieldKind::Struct(s), FieldValue::Struct(values)) => {
            let Some(StepKind::Name(name)) = first else { return None };
            let member = s.members.iter().position(|member| *member.name == **name)?;
            at(&s.members[member].class, &values[member], &steps[1..])
        }
        (FieldKind::Array(array), FieldValue::Array(values)) => {
            let Some(StepKind::Index(index)) = first else { return None };
            at(&array.element, values.get(*index as usize)?, &steps[1..])
        }
        _ => None,
    }
}

/// Returns whether steps may lead to a field in some event, whatever its lengths and
/// options are.
pub(crate) fn leads(class: &FieldClass, steps: &[StepKind]) -> bool {
    let first = steps.first();
    match &class.kind {
        FieldKind::Option(option) => leads(&option.class, steps),
        FieldKind::Variant(variant) => {
            let named = variant.options.iter().find(|option| match first {
                Some(StepKind::Name(name)) => option.name.as_deref() == Some(&**name),
                _ => false,
            });
            match named {
                Some(option) => leads(&option.class, &steps[1..]),
                None => variant.options.iter().any(|option| leads(&option.class, steps)),
            }
        }
        _ if first.is_none() => true,
        FieldKind::Struct(s) => s.members.iter().any(|member| match first {
            Some(StepKind::Name(name)) => {
                *member.name == **name && leads(&member.class, &steps[1..])
            }
            _ => false,
        }),
        FieldKind::Array(array) => match first {
            Some(StepKind::Index(index)) => {
                let long = !matches!(array.length, Length::Static(len) if len <= *index);
                long && leads(&array.element, &steps[1..])
            }
            _ => false,
        },
        _ => false,
    }
}
