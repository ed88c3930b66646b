//! Resolution of the steps of a selector to fields of a class.

use ltt_read::FieldStep;
use ltt_read::schema::{FieldClass, FieldKind, Flag, Length};

use crate::model::{FieldType, IntegerKind, IntegerType, Label};
use crate::syntax::{Step, StepKind};

/// The maximum number of fields that steps can lead to through nested variants.
const MAX_TARGETS: usize = 1024;

/// A field that steps lead to.
#[derive(Debug)]
pub(super) struct Target<'c> {
    pub(super) path: Vec<FieldStep>,
    pub(super) class: &'c FieldClass,
    /// `true` if every event has the field.
    pub(super) always: bool,
}

/// Finds the fields that steps lead to from a class. There are several if the steps pass
/// a variant, of which an event has at most one. Returns `None` if there are too many.
pub(super) fn targets<'c>(class: &'c FieldClass, steps: &[Step]) -> Option<Vec<Target<'c>>> {
    let mut walk = Walk { path: Vec::new(), targets: Vec::new(), steps: 0 };
    walk.go(class, steps, true).then_some(walk.targets)
}

struct Walk<'c> {
    path: Vec<FieldStep>,
    targets: Vec<Target<'c>>,
    steps: usize,
}

impl<'c> Walk<'c> {
    /// Visits the fields that steps lead to. Returns `false` if there are too many.
    fn go(&mut self, class: &'c FieldClass, steps: &[Step], always: bool) -> bool {
        self.steps += 1;
        if self.steps > 16 * MAX_TARGETS || self.targets.len() > MAX_TARGETS {
            return false;
        }
        let next = steps.split_first().map(|(step, rest)| (&step.kind, rest));
        match (&class.kind, next) {
            (FieldKind::Option(option), _) => self.go(&option.class, steps, false),
            (FieldKind::Variant(variant), next) => {
                let named = |name: &str| {
                    variant.options.iter().position(|o| o.name.as_deref() == Some(name))
                };
                if let Some((StepKind::Name(name), rest)) = next
                    && let Some(number) = named(name)
                {
                    let option = &variant.options[number].class;
                    return self.below(FieldStep::Option(number as u64), option, rest, false);
                }
                (0..).zip(&variant.options).all(|(number, option)| {
                    self.below(FieldStep::Option(number), &option.class, steps, false)
                })
            }
            (_, None) => {
                self.targets.push(Target { path: self.path.clone(), class, always });
                true
            }
            (FieldKind::Struct(s), Some((StepKind::Name(name), rest))) => {
                let member = s.members.iter().find(|member| *member.name == **name);
                member.is_none_or(|member| {
                    self.below(FieldStep::Name(name.clone()), &member.class, rest, always)
                })
            }
            (FieldKind::Array(array), Some((StepKind::Index(index), rest))) => {
                let always = match array.length {
                    Length::Static(len) if len <= *index => return true,
                    Length::Static(_) => always,
                    Length::Dynamic(_) => false,
                };
                self.below(FieldStep::Index(*index), &array.element, rest, always)
            }
            _ => true,
        }
    }

    fn below(
        &mut self,
        step: FieldStep,
        class: &'c FieldClass,
        rest: &[Step],
        always: bool,
    ) -> bool {
        self.path.push(step);
        let continues = self.go(class, rest, always);
        self.path.pop();
        continues
    }
}

/// Adds the names that can follow at a class, for suggestions.
pub(super) fn names_below<'c>(class: &'c FieldClass, names: &mut Vec<&'c str>) {
    match &class.kind {
        FieldKind::Struct(s) => names.extend(s.members.iter().map(|member| &*member.name)),
        FieldKind::Option(option) => names_below(&option.class, names),
        FieldKind::Variant(variant) if names.len() < MAX_TARGETS => {
            names.extend(variant.options.iter().filter_map(|option| option.name.as_deref()));
            for option in &variant.options {
                if matches!(option.class.kind, FieldKind::Struct(_)) {
                    names_below(&option.class, names);
                }
            }
        }
        _ => {}
    }
}

/// Returns the type of fields of a class.
pub(crate) fn field_type(class: &FieldClass) -> FieldType {
    match &class.kind {
        FieldKind::Integer(fixed, integer) => {
            labelled(FieldType::integer(fixed.bits, integer.signed), class)
        }
        FieldKind::VarInteger(integer) => labelled(FieldType::integer(64, integer.signed), class),
        FieldKind::Bool(..) => FieldType::truth(),
        FieldKind::BitArray(fixed) => FieldType::integer(fixed.bits, false),
        FieldKind::BitMap(fixed, flags) => {
            let label =
                |flag: &Flag| Label { name: flag.name.clone(), ranges: flag.ranges.clone() };
            let labels = flags.iter().map(label).collect();
            match FieldType::integer(fixed.bits, false) {
                FieldType::Integer(of) => {
                    FieldType::Integer(IntegerType { labels, kind: IntegerKind::Flags, ..of })
                }
                other => other,
            }
        }
        FieldKind::Float(_) => FieldType::Float,
        FieldKind::String(_) => FieldType::Text,
        FieldKind::Blob(_) => FieldType::Opaque("a blob"),
        FieldKind::Array(_) => FieldType::Opaque("an array"),
        FieldKind::Struct(_) => FieldType::Opaque("a structure"),
        _ => FieldType::Opaque("such a field"),
    }
}

fn labelled(of: FieldType, class: &FieldClass) -> FieldType {
    let (FieldType::Integer(integer), Some(mappings)) = (&of, class.mappings()) else { return of };
    let label = |name: &std::sync::Arc<str>, ranges: &Vec<(i128, i128)>| Label {
        name: name.clone(),
        ranges: ranges.clone(),
    };
    let labels = mappings.iter().map(|m| label(&m.label, &m.ranges)).collect();
    FieldType::Integer(IntegerType { labels, kind: IntegerKind::Number, ..integer.clone() })
}
