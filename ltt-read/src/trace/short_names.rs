//! Names of event types without their systems.

use hashbrown::HashMap;

use crate::schema::{EventTypeId, Schema};

/// The event types that are known by a short name.
#[derive(Debug)]
pub(super) struct ShortNames {
    /// For each event type, `true` if it is the only one with its short name; empty if the names do
    /// not begin with systems.
    are_unique: Box<[bool]>,
}

impl ShortNames {
    pub(super) fn of(schema: &Schema) -> Self {
        if !matches!(schema.env_str("tracer_name"), Some("ftrace" | "perf")) {
            return ShortNames { are_unique: Box::new([]) };
        }
        let names = schema.event_types.iter().map(|event_type| event_type.name());
        let short = |name| short(name).unwrap_or(name);
        let mut counts = HashMap::new();
        for name in names.clone() {
            *counts.entry(short(name)).or_insert(0) += 1;
        }
        ShortNames { are_unique: names.map(|name| counts.get(short(name)) == Some(&1)).collect() }
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
        let names = ["a:x", "b:x", "a:y", "z", "b:z"];
        let of = |(id, name)| EventType::new(StreamClassId(0), id, name);
        schema.event_types = (0..).zip(names).map(of).collect();
        let short = |schema: &Schema| -> Vec<Option<String>> {
            let names = ShortNames::of(schema);
            let ids = (0..5).map(EventTypeId);
            ids.map(|id| names.of_type(schema, id).map(str::to_owned)).collect()
        };
        assert_eq!(short(&schema), [const { None }; 5]);
        schema.env.push(("tracer_name".into(), EnvValue::Str("ftrace".to_owned())));
        assert_eq!(short(&schema), [None, None, Some("y".to_owned()), None, None]);
    }
}
