//! The facilities of a trace: their numbers, and their descriptions.

use hashbrown::HashMap;

use super::checksum::checksum;
use super::description::{self, Event, Facility, Field, Scalar, ScalarKind, Size, Type};
use super::facility_class::{Machine, payload};
use super::files::Files;
use super::warn;
use crate::cursor::Cursor;
use crate::event::Value;
use crate::legacy::blocks::version::Version;
use crate::metadata::Diagnostic;
use crate::schema::{EventType, Identity, Schema, StreamClassId};

/// The facility that every trace has.
pub(super) const CORE: &str = "core";

/// The maximum number of facilities that a trace may load.
const MAX_LOADS: usize = 1 << 16;

/// A loaded facility.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadedFacility {
    pub(super) name: String,
    /// The checksum of the facility, if one was recorded.
    pub(super) checksum: Option<u32>,
    /// The id of the first event; the other ids follow.
    pub(super) first_id: u64,
    pub(super) machine: Machine,
}

/// The descriptions of facilities, with the paths of their files.
#[derive(Debug, Default)]
pub(super) struct Descriptions(Vec<(String, Facility)>);

impl Descriptions {
    /// Parses the descriptions among the files of a trace. Invalid ones are left out with
    /// a warning.
    pub(super) fn read(files: &Files, warnings: &mut Vec<Diagnostic>) -> Self {
        let mut all = Vec::new();
        for (path, bytes) in files.descriptions() {
            let text = String::from_utf8_lossy(bytes);
            match description::parse(&text) {
                Ok(facilities) => all.extend(facilities.into_iter().map(|f| (path.to_owned(), f))),
                Err(diagnostic) => {
                    let place = crate::metadata::LineColumn::of(&text, diagnostic.span.start);
                    let (line, column) = (place.line, place.column);
                    warn(warnings, format!("{path}:{line}:{column}: {}", diagnostic.message));
                }
            }
        }
        Descriptions(all)
    }

    /// Finds the description of a loaded facility. Among several with its name, prefers
    /// one with the recorded checksum, then one for the architecture, then any.
    fn find(
        &self,
        load: &LoadedFacility,
        arch: &str,
        warnings: &mut Vec<Diagnostic>,
    ) -> Option<&Facility> {
        let named: Vec<_> = self.0.iter().filter(|(_, f)| f.name == load.name).collect();
        let same = |f: &Facility| load.checksum.is_none_or(|sum| checksum(f) == sum);
        if let Some((_, exact)) = named.iter().find(|(_, f)| same(f)) {
            return Some(exact);
        }
        let for_arch = |path: &str| path.ends_with(&format!("_{arch}.xml"));
        let found = named.iter().find(|(path, _)| for_arch(path)).or(named.first());
        let (path, name) = (found.map(|(path, _)| path.as_str()), &load.name);
        match path {
            Some(path) => warn(
                warnings,
                format!("{path}: description of facility `{name}` differs from the recorded one"),
            ),
            None => warn(warnings, format!("no description of facility `{name}`")),
        }
        found.map(|(_, facility)| facility)
    }

    /// Adds the event types of facilities to a schema.
    pub(super) fn describe(
        &self,
        loads: &[LoadedFacility],
        version: Version,
        arch: &str,
        schema: &mut Schema,
        warnings: &mut Vec<Diagnostic>,
    ) {
        let mut known = HashMap::new();
        for load in loads {
            let core;
            let facility = match self.find(load, arch, warnings) {
                Some(facility) => facility,
                None if load.name == CORE => {
                    core = core_facility(version);
                    &core
                }
                None => continue,
            };
            for (event, id) in facility.events.iter().zip(load.first_id..) {
                // Ids of two facilities may not overlap; the first facility has
                // precedence.
                let of_another = version != Version::Of2003 && id - load.first_id > 0xff;
                if of_another || known.insert(id, ()).is_some() {
                    continue;
                }
                match event_type(facility, event, id, &load.machine) {
                    Some(event_type) => schema.event_types.push(event_type),
                    None => {
                        let (facility, event) = (&facility.name, &event.name);
                        let message =
                            format!("the types of event `{facility}.{event}` cannot be resolved");
                        warn(warnings, message);
                    }
                }
            }
        }
    }
}

/// Adds the event types of the core facility that the format itself defines.
pub(super) fn describe_core(version: Version, machine: &Machine, schema: &mut Schema) {
    let core = core_facility(version);
    let events = core.events.iter().zip(0..);
    let types = events.filter_map(|(event, id)| event_type(&core, event, id, machine));
    schema.event_types.extend(types);
}

fn event_type(facility: &Facility, event: &Event, id: u64, machine: &Machine) -> Option<EventType> {
    Some(EventType {
        identity: Identity {
            namespace: Some(facility.name.as_str().into()),
            name: Some(event.name.as_str().into()),
            uid: None,
        },
        payload: Some(payload(facility, event, machine)?.into()),
        ..EventType::new(StreamClassId(0), id, "")
    })
}

/// Returns the events that the reader needs before it reads descriptions.
fn core_facility(version: Version) -> Facility {
    let uint = |name: &str, bytes| Field {
        name: name.to_owned(),
        class: Type::Scalar(Scalar {
            kind: ScalarKind::Unsigned,
            size: Size::Bytes(bytes),
            c_name: "",
            network: false,
        }),
    };
    let event = |name: &str, fields| Event { name: name.to_owned(), fields, struct_type: None };
    let name = || Field { name: "name".to_owned(), class: Type::String };
    let words = |words: &[&str]| words.iter().map(|word| uint(word, 4)).collect::<Vec<_>>();
    let with_name = |rest: &[&str]| [vec![name()], words(rest)].concat();
    let events = match version {
        Version::Of2003 => vec![event("facility_load", with_name(&["checksum", "base_code"]))],
        _ => {
            let load = with_name(&[
                "checksum",
                "id",
                "int_size",
                "long_size",
                "pointer_size",
                "size_t_size",
                "has_alignment",
            ]);
            vec![
                event("facility_load", load.clone()),
                event("facility_unload", words(&["id"])),
                event("time_heartbeat", Vec::new()),
                event("time_heartbeat_full", vec![uint("tsc", 8)]),
                event("state_dump_facility_load", load),
            ]
        }
    };
    Facility { name: CORE.to_owned(), events, types: Vec::new() }
}

/// Reads the loaded facilities from the events of a tracefile.
pub(super) fn read_loads(
    mut cursor: Cursor,
    version: Version,
    machine: &Machine,
    loads: &mut Vec<LoadedFacility>,
    warnings: &mut Vec<Diagnostic>,
) {
    loop {
        let event = match cursor.next() {
            Ok(Some(event)) => event,
            Ok(None) => return,
            Err(error) => {
                warn(warnings, format!("{error}"));
                if !cursor.skip_packet() {
                    return;
                }
                continue;
            }
        };
        if !matches!(event.event_type().id, 0 | 4) || loads.len() >= MAX_LOADS {
            continue;
        }
        let word = |field| event.field(field).and_then(|v| v.as_u64()).unwrap_or(0);
        let byte = |field| u8::try_from(word(field)).unwrap_or(0);
        let Some(Value::Str(name)) = event.field("name") else { continue };
        let load = LoadedFacility {
            name: name.to_str_lossy().into_owned(),
            checksum: Some(word("checksum") as u32),
            first_id: match version {
                Version::Of2003 => word("base_code"),
                _ => word("id") << 8,
            },
            machine: match version {
                Version::Of2003 => *machine,
                _ => Machine {
                    order: machine.order,
                    int: byte("int_size"),
                    long: byte("long_size"),
                    pointer: byte("pointer_size"),
                    size_t: byte("size_t_size"),
                    alignment: byte("has_alignment"),
                },
            },
        };
        // Every CPU may report the facility.
        if !loads.contains(&load) {
            loads.push(load);
        }
    }
}
