//! Names of event types without their systems.

use hashbrown::{HashMap, HashSet};

use crate::schema::{EventTypeId, Schema};

/// The event types that are known by a short name.
#[derive(Debug)]
pub(super) struct ShortNames {
    /// For each event type, `true` if no other name has its short name; empty if the names do not begin with
    /// systems.
    are_unique: Box<[bool]>,
}

impl ShortNames {
    pub(super) fn of(schema: &Schema) -> Self {
        if !matches!(schema.env_str("tracer_name"), Some("ftrace" | "perf")) {
            return ShortNames { are_unique: Box::new([]) };
        }
        let names = schema.event_types.iter().map(|event_type| event_type.name());
        let short = |name| short(name).unwrap_or(name);
        // Several stream classes may have event types of one name.
        let mut first = HashMap::new();
        let mut ambiguous = HashSet::new();
        for name in names.clone() {
            if *first.entry(short(name)).or_insert(name) != name {
                ambiguous.insert(short(name));
            }
        }
        let is_unique = |name| !ambiguous.contains(short(name));
        ShortNames { are_unique: names.map(is_unique).collect() }
    }

    /// Returns the short name of an event type.
    pub(super) fn of_type<'s>(&self, schema: &'s Schema, id: EventTypeId) -> Option<&'s str> {
        let name = schema.event_types[id.index()].name();
        if self.are_unique.get(id.index()) == Some(&true) { short(name) } else { None }
    }
}

fn short(name: &str) -> Option<&str> {
    name.split_once(':').map(|(_, short)| short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{EnvValue, EventType, Format, StreamClassId};

    #[test]
    fn only_unique_names_are_short() {
        let mut schema = Schema::new(Format::Ftrace);
        let names = ["a:x", "b:x", "a:y", "z", "b:z", "a:y"];
        let of = |(id, name)| EventType::new(StreamClassId(0), id, name);
        schema.event_types = (0..).zip(names).map(of).collect();
        let short = |schema: &Schema| -> Vec<Option<String>> {
            let names = ShortNames::of(schema);
            let ids = (0..6).map(EventTypeId);
            ids.map(|id| names.of_type(schema, id).map(str::to_owned)).collect()
        };
        assert_eq!(short(&schema), [const { None }; 6]);
        schema.env.push(("tracer_name".into(), EnvValue::Str("ftrace".to_owned())));
        let y = || Some("y".to_owned());
        assert_eq!(short(&schema), [None, None, y(), None, None, y()]);
    }
}
