//! Notes on traces: their order, their files, and two programs that write the same file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::support::print_note;
use ltt_read::{Timestamp, TracefileIndex};
use lttv_common::notes::{MAX_TEXT_BYTES, Note, NoteId, Notes, NotesError, TraceId};
use lttv_context::{Bounds, Traceset, TracesetContext};
use proptest::prelude::*;

fn kernel() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel")
}

fn ust() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/ust")
}

fn open(path: impl AsRef<Path>) -> Traceset {
    Traceset::open(path).expect("a bundled trace")
}

fn at(ns: i64, text: &str) -> Note {
    let created = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000);
    Note::at(Timestamp::from_ns(ns), text).created_at(created)
}

fn over(start: i64, end: i64, text: &str) -> Note {
    Note::over(Timestamp::from_ns(start)..Timestamp::from_ns(end), text).expect("not empty")
}

fn texts(notes: &Notes) -> Vec<String> {
    notes.iter().map(|(_, note)| note.text().to_owned()).collect()
}

/// Returns copies of all notes.
fn all(notes: &Notes) -> Vec<(NoteId, Note)> {
    notes.iter().map(|(id, note)| (id, note.clone())).collect()
}

#[test]
fn saved_notes_are_read_again_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("deep/notes.json");
    let traceset = open(kernel());
    let mut notes = Notes::open_file(&file, &traceset).unwrap();
    assert!(notes.is_empty() && !notes.has_unsaved_changes() && !file.exists());
    for note in [
        at(i64::MAX, "the last time"),
        at(i64::MIN, "the first time\n\"quoted\"\u{1b}[31m\0 ∞"),
        over(-5, i64::MAX, "nearly all"),
        at(7, "").with_event_name("sched_switch"),
        Note::at(Timestamp::from_ns(8), "now"),
    ] {
        notes.add(note).unwrap();
    }
    assert!(notes.has_unsaved_changes());
    notes.save().unwrap();
    assert!(!notes.has_unsaved_changes());

    let again = Notes::open_file(&file, &traceset).unwrap();
    assert_eq!(all(&again), all(&notes));
    assert_eq!(again.iter().nth(2).unwrap().1.event_name(), Some("sched_switch"));
    let mut exported = Vec::new();
    again.write_json(&mut exported).unwrap();
    assert_eq!(exported, fs::read(&file).unwrap());
}

#[test]
fn edited_and_removed_notes_stay_so() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.json");
    let traceset = open(kernel());
    let mut notes = Notes::open_file(&file, &traceset).unwrap();
    let first = notes.add(at(1, "one")).unwrap();
    let second = notes.add(at(2, "two")).unwrap();
    notes.save().unwrap();
    assert!(notes.replace(first, over(3, 4, "three")).unwrap());
    assert_eq!(notes.remove(second).unwrap().text(), "two");
    assert!(notes.remove(second).is_none());
    assert!(!notes.replace(second, at(2, "gone")).unwrap());
    notes.save().unwrap();
    let again = Notes::open_file(&file, &traceset).unwrap();
    assert_eq!(texts(&again), ["three"]);
    assert_eq!(again.iter().next().unwrap().0, first);
}

#[test]
fn notes_of_moved_traces_are_found_without_a_path() {
    // The environment of this process cannot be changed safely: a second one is started.
    let dir = tempfile::tempdir().unwrap();
    if std::env::var_os("LTTV_NOTES_TEST").is_none() {
        let test = std::env::current_exe().unwrap();
        let mut again = std::process::Command::new(test);
        again.args(["--exact", "notes_of_moved_traces_are_found_without_a_path"]);
        again.env("LTTV_NOTES_TEST", "1").env("XDG_DATA_HOME", dir.path().join("data"));
        assert!(again.status().unwrap().success());
        return;
    }
    let copy = dir.path().join("elsewhere/renamed");
    copy_dir(&kernel(), &copy);
    let mut notes = Notes::open(&open(kernel())).unwrap();
    notes.add(at(1, "found")).unwrap();
    notes.save().unwrap();
    assert!(notes.path().starts_with(std::env::var_os("XDG_DATA_HOME").unwrap()));
    assert_eq!(texts(&Notes::open(&open(&copy)).unwrap()), ["found"]);
    assert!(Notes::open(&open(ust())).unwrap().is_empty());

    // The order of the traces does not matter.
    let both = |first, second| Traceset::open_many([first, second]).unwrap();
    let mut notes = Notes::open(&both(kernel(), ust())).unwrap();
    assert!(notes.is_empty());
    notes.add(at(1, "both")).unwrap();
    notes.save().unwrap();
    assert_eq!(texts(&Notes::open(&both(ust(), copy)).unwrap()), ["both"]);
}

#[test]
fn a_trace_that_grows_keeps_its_identifier() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy");
    copy_dir(&kernel(), &copy);
    let traces = ltt_read::open_all(&copy).unwrap();
    let id = TraceId::of(&traces[0]);
    // The files as they were after the first packet of each tracefile.
    let mut earlier = Vec::new();
    for number in 0..traces[0].tracefiles().len() {
        let packets = traces[0].packet_index(TracefileIndex(number)).entries();
        if let [first, _, ..] = packets {
            let path = traces[0].tracefiles()[number].files().next().unwrap().to_owned();
            earlier.push((path, first.offset + first.size));
        }
    }
    assert!(!earlier.is_empty(), "each tracefile has one packet");
    let index = traces[0].path().join("index");
    drop(traces);
    fs::remove_dir_all(index).unwrap();
    assert_eq!(TraceId::of(&ltt_read::open_all(&copy).unwrap()[0]), id);
    for (path, len) in earlier {
        fs::File::options().write(true).open(path).unwrap().set_len(len).unwrap();
    }
    let traces = ltt_read::open_all(&copy).unwrap();
    assert_eq!(TraceId::of(&traces[0]), id);
    let mut events = ltt_read::Merge::new(&traces);
    let mut count = 0;
    while events.next().is_some() {
        count += 1;
    }
    assert!(count < 6087);
    assert_ne!(TraceId::of(&open(ust()).traces()[0]), id);
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        match entry.is_dir() {
            true => copy_dir(&entry, &to),
            false => drop(fs::copy(&entry, &to).unwrap()),
        }
    }
}

#[test]
fn a_note_of_an_event_finds_exactly_this_event_in_a_copy_of_the_trace() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.json");
    let copy = dir.path().join("copy");
    copy_dir(&kernel(), &copy);

    let traces = ltt_read::open_all(kernel()).unwrap();
    let mut notes = Notes::open_file(&file, &open(kernel())).unwrap();
    let mut merge = ltt_read::Merge::new(&traces);
    let mut number = 0;
    while let Some(event) = merge.next() {
        if number % 487 == 3 {
            notes.add(Note::of_event(&event, number.to_string())).unwrap();
        }
        number += 1;
    }
    notes.save().unwrap();
    assert_eq!(notes.len(), 13);

    // The other trace comes first, so the numbers of traces differ.
    let traceset = Traceset::open_many([ust(), copy]).unwrap();
    let notes = Notes::open_file(&file, &traceset).unwrap();
    for (_, note) in notes.iter() {
        let position = note.find_in(&traceset).expect("in the copy");
        let mut context = TracesetContext::new(&traceset);
        context.seek_position(&position).unwrap();
        let expected = note.clone();
        let hits = std::rc::Rc::new(std::cell::Cell::new(0));
        let count = hits.clone();
        context.on_event("*", move |call| {
            assert_eq!(call.event.timestamp(), Some(expected.start()));
            assert_eq!(Some(call.event.event_type().name()), expected.event_name());
            assert!(expected.is_of(&call.event));
            count.set(count.get() + 1);
        });
        assert_eq!(context.read(&Bounds::all().events(1)).unwrap().errors, 0);
        assert_eq!(hits.get(), 1);
        // Before the event there are as many events as in the trace where it was noted.
        let mut before = TracesetContext::new(open(kernel()));
        let position = note.find_in(before.traceset()).unwrap();
        let read = before.read(&Bounds::all().until_position(&position)).unwrap();
        assert_eq!(read.events.to_string(), note.text());
        assert!(note.find_in(&open(ust())).is_none());
    }
    assert!(at(1, "no event").find_in(&traceset).is_none());
}

#[test]
fn two_writers_of_one_file_lose_no_note() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.json");
    let traceset = open(kernel());
    let mut here = Notes::open_file(&file, &traceset).unwrap();
    let shared = here.add(at(5, "shared")).unwrap();
    let removed = here.add(at(6, "removed")).unwrap();
    here.save().unwrap();
    let mut there = Notes::open_file(&file, &traceset).unwrap();
    here.add(at(1, "here")).unwrap();
    here.remove(removed).unwrap();
    here.save().unwrap();
    there.add(at(2, "there")).unwrap();
    there.replace(shared, at(5, "edited")).unwrap();
    there.save().unwrap();
    assert_eq!(texts(&there), ["here", "there", "edited"]);
    assert_eq!(texts(&here), ["here", "shared"]);
    here.add(at(9, "unsaved")).unwrap();
    assert!(here.refresh().unwrap() && !here.refresh().unwrap());
    assert_eq!(texts(&here), ["here", "there", "edited", "unsaved"]);

    // At the same time, from several threads with a file descriptor each.
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (traceset, file) = (&traceset, &file);
            scope.spawn(move || {
                let mut notes = Notes::open_file(file, traceset).unwrap();
                for number in 0..10 {
                    notes.add(at(100 + writer, &number.to_string())).unwrap();
                    notes.save().unwrap();
                }
            });
        }
    });
    assert_eq!(Notes::open_file(&file, &traceset).unwrap().len(), 3 + 40);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "temporary files remain");
}

#[test]
fn a_damaged_or_later_file_is_an_error_and_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.json");
    let traceset = open(kernel());
    let mut notes = Notes::open_file(&file, &traceset).unwrap();
    notes.add(over(1, 5, "good")).unwrap();
    notes.save().unwrap();
    let good = fs::read_to_string(&file).unwrap();
    let id = notes.iter().next().unwrap().0.to_string();
    notes.add(at(3, "unsaved")).unwrap();

    let deep = "[".repeat(100_000);
    let huge = "x".repeat(MAX_TEXT_BYTES + 1);
    let start = r#""start": "0.000000001""#;
    let damaged = [
        String::new(),
        "[]".to_owned(),
        deep.clone(),
        good[..good.len() / 2].to_owned(),
        good.replace("lttv-notes", "other"),
        good.replace("\"version\": 1", "\"version\": 0"),
        good.replace("\"version\": 1", "\"version\": -1"),
        good.replace("0.000000005", "0.000000001"),
        good.replace(start, r#""start": "0.0000000001""#),
        good.replace(start, r#""start": "99999999999999999999""#),
        good.replace(start, r#""start": 1"#),
        good.replace(&id, "not hexadecimal"),
        good.replace("good", &huge),
        good.replace("\"created\": \"", "\"created\": \"x"),
        good.replace("\"notes\": [", &format!("\"more\": {deep}, \"notes\": [")),
        good.replace("\"notes\": [", &format!("\"notes\": [{}, ", note_entry(&good))),
    ];
    for text in damaged {
        assert_ne!(text, good);
        fs::write(&file, &text).unwrap();
        let error = Notes::open_file(&file, &traceset).unwrap_err();
        assert!(matches!(error, NotesError::Damaged { .. }), "{error}");
        assert!(error.to_string().len() < 400, "{error}");
        assert!(matches!(notes.save(), Err(NotesError::Damaged { .. })));
        assert!(matches!(notes.refresh(), Err(NotesError::Damaged { .. })));
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "the file was changed");
    }
    let later = r#"{"format": "lttv-notes", "version": 2, "notes": {}}"#;
    fs::write(&file, later).unwrap();
    assert!(matches!(notes.save(), Err(NotesError::NewerVersion { version: 2, .. })));
    assert_eq!(fs::read_to_string(&file).unwrap(), later);

    let file_bytes = fs::File::create(&file).unwrap();
    file_bytes.set_len((16 << 20) + 1).unwrap();
    assert!(matches!(notes.refresh(), Err(NotesError::TooLarge { .. })));
    assert!(matches!(Notes::open_file(dir.path(), &traceset), Err(NotesError::Io { .. })));

    // Nothing is lost meanwhile.
    assert!(notes.has_unsaved_changes());
    fs::write(&file, &good).unwrap();
    notes.save().unwrap();
    assert_eq!(texts(&Notes::open_file(&file, &traceset).unwrap()), ["good", "unsaved"]);
}

/// Returns the text of the only note of a file.
fn note_entry(file: &str) -> &str {
    let notes = &file[file.find("\"notes\"").unwrap()..];
    &notes[notes.find('{').unwrap()..=notes.find('}').unwrap()]
}

#[test]
fn unknown_keys_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.json");
    let text = r#"{"format": "lttv-notes", "version": 1, "colours": {"a": [1, null]}, "notes": [
        {"id": "1", "text": "t", "start": "1", "created": "2026-01-01T00:00:00Z", "author": 5}]}"#;
    fs::write(&file, text).unwrap();
    let traceset = open(kernel());
    let mut notes = Notes::open_file(&file, &traceset).unwrap();
    let (id, mut note) = notes.iter().next().map(|(id, note)| (id, note.clone())).unwrap();
    note.set_text("edited");
    notes.replace(id, note).unwrap();
    notes.save().unwrap();
    let saved: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(saved["colours"]["a"][0], 1);
    assert_eq!(saved["notes"][0]["author"], 5);
    assert_eq!(saved["notes"][0]["text"], "edited");
}

#[test]
fn notes_of_other_traces_and_files_in_traces_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.json");
    let mut notes = Notes::open_file(&file, &open(kernel())).unwrap();
    notes.add(at(1, "kernel")).unwrap();
    notes.save().unwrap();
    let refused = Notes::open_file(&file, &open(ust()));
    assert!(matches!(refused, Err(NotesError::OtherTraces { .. })));
    // A part of the traces is enough, and the notes then belong to all of them.
    let both = Traceset::open_many([kernel(), ust()]).unwrap();
    let mut notes = Notes::open_file(&file, &both).unwrap();
    notes.add(at(2, "both")).unwrap();
    notes.save().unwrap();
    assert_eq!(texts(&Notes::open_file(&file, &open(ust())).unwrap()), ["kernel", "both"]);

    let copy = dir.path().join("copy");
    copy_dir(&kernel(), &copy);
    let traceset = open(&copy);
    let directory = traceset.traces()[0].path().to_owned();
    for inside in ["notes.json", "index/notes.json"] {
        let refused = Notes::open_file(directory.join(inside), &traceset);
        assert!(matches!(refused, Err(NotesError::InTrace { .. })), "{inside}");
    }
    let refused = Notes::open_file(directory.join("metadata"), &traceset);
    assert!(matches!(refused, Err(NotesError::IsInput(_))));
    #[cfg(unix)]
    {
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(directory.join("metadata"), &link).unwrap();
        assert!(matches!(Notes::open_file(&link, &traceset), Err(NotesError::IsInput(_))));
    }
}

#[test]
#[cfg(unix)]
fn a_file_keeps_its_permissions_and_a_link_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("notes.json"), dir.path().join("link"));
    let traceset = open(kernel());
    let mut notes = Notes::open_file(&file, &traceset).unwrap();
    notes.add(at(1, "first")).unwrap();
    notes.save().unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let mut notes = Notes::open_file(&link, &traceset).unwrap();
    notes.add(at(2, "second")).unwrap();
    notes.save().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o664);
    assert_eq!(texts(&Notes::open_file(&file, &traceset).unwrap()), ["first", "second"]);
}

#[test]
#[cfg(unix)]
fn unsaved_notes_survive_a_directory_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    let traceset = open(kernel());
    let read_only = dir.path().join("read-only");
    fs::create_dir(&read_only).unwrap();
    fs::set_permissions(&read_only, fs::Permissions::from_mode(0o555)).unwrap();
    let mut files = vec![];
    match fs::write(read_only.join("probe"), "") {
        Ok(()) => print_note("a read-only directory was not tested: this user may write there"),
        Err(_) => files.push(read_only.join("notes.json")),
    }
    // A file in place of a directory stops any user.
    fs::write(dir.path().join("file"), "").unwrap();
    files.push(dir.path().join("file/notes.json"));
    if Path::new("/proc/self").is_dir() {
        files.push("/proc/self/notes.json".into());
    }
    for file in files {
        let Ok(mut notes) = Notes::open_file(&file, &traceset) else { continue };
        notes.add(at(1, "kept")).unwrap();
        assert!(matches!(notes.save(), Err(NotesError::Io { .. })), "{}", file.display());
        assert!(notes.has_unsaved_changes());
        assert_eq!(texts(&notes), ["kept"]);
    }
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let mut notes = Notes::open_file("never written", &Traceset::new()).unwrap();
    let longest = notes.add(at(1, &"x".repeat(MAX_TEXT_BYTES))).unwrap();
    let long = at(1, &"x".repeat(MAX_TEXT_BYTES + 1));
    let refused = notes.replace(longest, long.clone());
    assert!(matches!(refused, Err(NotesError::TextTooLong { .. })));
    assert!(matches!(notes.add(long), Err(NotesError::TextTooLong { .. })));
    assert_eq!(notes.len(), 1);
    assert!(Note::over(Timestamp::from_ns(5)..Timestamp::from_ns(5), "").is_none());
}

/// A short time near others, or one at a limit.
fn any_time() -> impl Strategy<Value = i64> {
    prop_oneof![8 => -10..10_i64, 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
}

proptest! {
    #[test]
    fn queries_by_time_agree_with_a_search_of_all_notes(
        notes in prop::collection::vec((any_time(), prop::option::of(any_time())), 0..30),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        queries in prop::collection::vec((any_time(), any_time()), 1..10),
    ) {
        let mut known = Notes::open_file("never written", &Traceset::new()).unwrap();
        let mut expected = Vec::new();
        for (start, end) in notes {
            let note = match end {
                Some(end) if start < end => over(start, end, ""),
                _ => at(start, ""),
            };
            expected.push((known.add(note.clone()).unwrap(), note));
        }
        for index in removed {
            if !expected.is_empty() {
                let (id, note) = expected.remove(index.index(expected.len()));
                prop_assert_eq!(known.remove(id), Some(note));
            }
        }
        let starts: Vec<_> = known.iter().map(|(_, note)| note.start()).collect();
        prop_assert!(starts.is_sorted());
        prop_assert_eq!(known.len(), expected.len());
        for (id, note) in &expected {
            prop_assert_eq!(known.get(*id), Some(note));
        }
        let all = all(&known);
        for (from, to) in queries {
            let (from, to) = (Timestamp::from_ns(from), Timestamp::from_ns(to));
            let select = |wanted: &dyn Fn(&Note) -> bool| {
                let wanted = all.iter().filter(|(_, note)| wanted(note));
                wanted.map(|(id, _)| *id).collect::<Vec<_>>()
            };
            let is_in = |note: &Note| match note.range() {
                _ if from >= to => false,
                None => from <= note.start() && note.start() < to,
                Some(range) => range.start < to && from < range.end,
            };
            let found: Vec<_> = known.overlapping(from..to).map(|(id, _)| id).collect();
            prop_assert_eq!(found, select(&is_in));
            let covers = |note: &Note| match note.range() {
                None => note.start() == from,
                Some(range) => range.contains(&from),
            };
            let found: Vec<_> = known.covering(from).map(|(id, _)| id).collect();
            prop_assert_eq!(found, select(&covers));
            let after = select(&|note| from < note.start());
            prop_assert_eq!(known.next_after(from).map(|(id, _)| id), after.first().copied());
            let before = select(&|note| note.start() < from);
            prop_assert_eq!(known.previous_before(from).map(|(id, _)| id), before.last().copied());
        }
    }
}
