//! The JSON text of a file of notes.

use std::collections::BTreeSet;
use std::io::{self, Write};

use ltt_read::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::note::MAX_TEXT_BYTES;
use super::{EventPlace, Note, NoteId, TraceId};

/// The first entry of each file.
const FORMAT: &str = "lttv-notes";
/// The only version of the format so far.
const VERSION: u64 = 1;

/// The contents of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    /// The traces that the notes belong to, and where they were last.
    pub(super) traces: Vec<(TraceId, String)>,
    pub(super) notes: Vec<(NoteId, Note)>,
    /// The unknown keys of the file.
    pub(super) unknown: Map<String, Value>,
}

/// The reason why a text is refused.
#[derive(Debug, PartialEq)]
pub(super) enum Refused {
    Damaged(String),
    NewerVersion(u64),
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    version: u64,
    #[serde(default)]
    traces: Vec<TraceEntry>,
    notes: Vec<NoteEntry>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct TraceEntry {
    id: String,
    #[serde(default)]
    path: String,
}

#[derive(Serialize, Deserialize)]
struct NoteEntry {
    id: String,
    text: String,
    start: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<PlaceEntry>,
    created: String,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct PlaceEntry {
    trace: String,
    tracefile: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    namesakes_before: usize,
    file: usize,
    /// In bits.
    bit_offset: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref)] // the signature that serde requires
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Contents {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Refused> {
        let fault = |error: serde_json::Error| Refused::Damaged(error.to_string());
        // The rest of a file of a later version may be anything.
        let head: Head = serde_json::from_slice(bytes).map_err(fault)?;
        if head.format != FORMAT {
            return Err(Refused::Damaged(format!("the format is not \"{FORMAT}\"")));
        }
        match head.version {
            VERSION => {}
            0 => return Err(Refused::Damaged("version 0 does not exist".to_owned())),
            newer => return Err(Refused::NewerVersion(newer)),
        }
        let file: File = serde_json::from_slice(bytes).map_err(fault)?;
        let mut contents = Contents { unknown: file.unknown, ..Contents::default() };
        for trace in file.traces {
            let id = trace.id.parse();
            let id = id.map_err(|_| damaged("identifier of a trace", &trace.id))?;
            contents.traces.push((id, trace.path));
        }
        let mut ids = BTreeSet::new();
        for entry in file.notes {
            let id = entry.id.parse().map_err(|_| damaged("identifier of a note", &entry.id))?;
            if !ids.insert(id) {
                return Err(damaged("identifier, which two notes have:", &entry.id));
            }
            contents.notes.push((id, entry.into_note()?));
        }
        Ok(contents)
    }

    pub(super) fn write(self, out: impl Write) -> io::Result<()> {
        let file = File {
            format: FORMAT.to_owned(),
            version: VERSION,
            traces: (self.traces.into_iter())
                .map(|(id, path)| TraceEntry { id: id.to_string(), path })
                .collect(),
            notes: self.notes.into_iter().map(|(id, note)| NoteEntry::new(id, note)).collect(),
            unknown: self.unknown,
        };
        let mut out = io::BufWriter::new(out);
        serde_json::to_writer_pretty(&mut out, &file)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

impl NoteEntry {
    fn new(id: NoteId, note: Note) -> Self {
        NoteEntry {
            id: id.to_string(),
            text: note.text().to_owned(),
            start: note.start().to_string(),
            end: note.range().map(|range| range.end.to_string()),
            event: note.event_name().map(str::to_owned),
            place: note.place().map(|place| PlaceEntry {
                trace: place.trace.to_string(),
                tracefile: place.tracefile.clone(),
                namesakes_before: place.namesakes_before,
                file: place.file,
                bit_offset: place.offset,
            }),
            created: note.created_jiff().to_string(),
            unknown: note.unknown,
        }
    }

    fn into_note(self) -> Result<Note, Refused> {
        if self.text.len() > MAX_TEXT_BYTES {
            return Err(Refused::Damaged(format!("note {} is too long", self.id)));
        }
        let start = time(&self.start)?;
        let mut note = match &self.end {
            Some(end) => Note::over(start..time(end)?, self.text)
                .ok_or_else(|| damaged("time range, which is empty, of note", &self.id))?,
            None => Note::at(start, self.text),
        };
        let created = self.created.parse::<jiff::Timestamp>();
        let created = created.map_err(|_| damaged("time of creation", &self.created))?;
        note = note.created_at(created.into());
        if let Some(event) = self.event {
            note = note.with_event_name(event);
        }
        if let Some(place) = self.place {
            let trace = place.trace.parse();
            note = note.with_place(EventPlace {
                trace: trace.map_err(|_| damaged("identifier of a trace", &place.trace))?,
                tracefile: place.tracefile,
                namesakes_before: place.namesakes_before,
                file: place.file,
                offset: place.bit_offset,
            });
        }
        note.unknown = self.unknown;
        Ok(note)
    }
}

fn time(text: &str) -> Result<Timestamp, Refused> {
    text.parse().map_err(|_| damaged("time", text))
}

fn damaged(kind: &str, text: &str) -> Refused {
    // A hostile text may be long.
    let text: String = text.chars().take(40).collect();
    Refused::Damaged(format!("not a valid {kind} {text:?}"))
}
