//! Each error writes its own text, and gives the error that caused it as its source.

use std::io;

use ltt_read::live::{LiveError, Refusal};
use ltt_read::metadata;
use ltt_read::writer::{MemoryTraceError, WriteError};
use ltt_read::{DecodeError, Error, ErrorChain, LayoutError};

const CAUSE: &str = "disk on fire";

fn io() -> io::Error {
    io::Error::other(CAUSE)
}

/// Checks that the text of a cause is not in the text of the error, and once in its chain.
#[track_caller]
fn has_cause(error: &dyn std::error::Error) {
    let mut causes = std::iter::successors(error.source(), |&error| error.source());
    assert!(causes.any(|error| error.to_string() == CAUSE), "{error}");
    assert!(!error.to_string().contains(CAUSE), "{error}");
    let chain = ErrorChain(error).to_string();
    assert_eq!(chain.matches(CAUSE).count(), 1, "{chain}");
    assert_eq!(format!("{error:?}"), chain);
}

#[test]
fn causes_are_sources_and_are_not_repeated_in_texts() {
    let read = || Error::Io { path: "trace".into(), error: io() };
    let write = || WriteError::Io { file: "stream".to_owned(), error: io() };
    let daemon = "localhost".to_owned();
    has_cause(&read());
    has_cause(&write());
    has_cause(&MemoryTraceError::Read(read()));
    has_cause(&MemoryTraceError::Write(write()));
    has_cause(&LiveError::Io { daemon: daemon.clone(), error: io() });
    let data = LiveError::Data { daemon, error: read() };
    has_cause(&data);
    assert_eq!(
        ErrorChain(&data).to_string(),
        "localhost: the data of the session cannot be read: cannot read trace: disk on fire"
    );
}

#[test]
fn reasons_are_in_texts_and_are_no_sources() {
    let metadata = metadata::parse(b"/* CTF 1.8 */ trace {").expect_err("an open block");
    let reason = metadata.to_string();
    let errors: [(Box<dyn std::error::Error>, String); 4] = [
        (
            Box::new(Error::Metadata { path: "trace/metadata".into(), error: metadata.into() }),
            reason,
        ),
        (
            Box::new(Error::Unsupported { path: "trace".into(), kind: LayoutError::TooComplex }),
            LayoutError::TooComplex.to_string(),
        ),
        (
            Box::new(DecodeError::Layout(LayoutError::TooComplex)),
            LayoutError::TooComplex.to_string(),
        ),
        (
            Box::new(LiveError::Refused {
                daemon: "localhost".to_owned(),
                what: "attaching".to_owned(),
                refusal: Refusal::NotLive,
            }),
            Refusal::NotLive.to_string(),
        ),
    ];
    for (error, reason) in errors {
        let text = error.to_string();
        assert!(text.ends_with(&reason), "{text}");
        assert!(error.source().is_none(), "{text}");
        assert_eq!(format!("{error:?}"), text);
    }
}

#[test]
fn debug_of_errors_is_their_text() {
    let errors: [Box<dyn std::error::Error>; 2] = [
        Box::new("1.2.3".parse::<ltt_read::Timestamp>().expect_err("two points")),
        Box::new("no".parse::<ltt_read::uuid::Uuid>().expect_err("two letters")),
    ];
    for error in errors {
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}
