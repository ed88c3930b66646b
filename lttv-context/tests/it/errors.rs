//! Each error writes its own text, and gives the error that caused it as its source.

use std::error::Error;
use std::io;

use ltt_read::ErrorChain;
use ltt_read::live::LiveError;
use lttv_context::attributes::{AttributeError, Path};
use lttv_context::framework::{ModuleError, OptionError};
use lttv_context::{
    CheckpointFileError, CheckpointMismatch, GrowthError, RecordingError, StalePosition, Traceset,
};

/// Checks that a cause is found, is not in the text of the error, and once in its chain.
#[track_caller]
fn has_cause(error: &dyn Error, text: &str) {
    let mut causes = std::iter::successors(error.source(), |&error| error.source());
    assert!(causes.any(|error| error.to_string() == text), "{error}");
    assert!(!error.to_string().contains(text), "{error}");
    let chain = ErrorChain(error).to_string();
    assert_eq!(chain.matches(text).count(), 1, "{chain}");
    assert_eq!(format!("{error:?}"), chain);
}

#[test]
fn causes_are_sources_and_are_not_repeated_in_texts() {
    const CAUSE: &str = "disk on fire";
    let io = || io::Error::other(CAUSE);
    let read = || ltt_read::Error::Io { path: "trace".into(), error: io() };
    has_cause(&RecordingError::Read(read()), CAUSE);
    let data = LiveError::Data { daemon: "localhost".to_owned(), error: read() };
    has_cause(&RecordingError::Live(data), CAUSE);
    has_cause(&ModuleError::Init { module: "disks".to_owned(), error: CAUSE.into() }, CAUSE);
    let stale = StalePosition {
        position: Traceset::new().revision(),
        traceset: Traceset::new().revision(),
    };
    has_cause(&GrowthError::OtherTraceset(stale), &stale.to_string());
    has_cause(&RecordingError::Growth(GrowthError::OtherTraceset(stale)), &stale.to_string());
}

#[test]
fn a_missing_checkpoint_file_is_told_with_its_path_and_the_cause() {
    let traceset = Traceset::new();
    let mut context = lttv_context::TracesetContext::new(&traceset);
    let error: CheckpointFileError =
        context.state().load_checkpoints("/nowhere/file").expect_err("there is none");
    let cause = error.source().expect("a cause").to_string();
    assert!(error.source().is_some_and(|error| error.is::<io::Error>()));
    assert_eq!(error.to_string(), "/nowhere/file: cannot be read or written");
    assert_eq!(format!("{error:?}"), format!("{error}: {cause}"));
}

#[test]
fn transparent_errors_and_reasons_are_told_once() {
    let stale = StalePosition {
        position: Traceset::new().revision(),
        traceset: Traceset::new().revision(),
    };
    let path = "a//b".parse::<Path>().expect_err("an empty name");
    let errors: [(Box<dyn Error>, String); 3] = [
        (Box::new(CheckpointMismatch::Stale(stale)), stale.to_string()),
        (Box::new(AttributeError::Path(path.clone())), path.to_string()),
        (Box::new(OptionError::Unknown("x".to_owned())), "unknown option --x".to_owned()),
    ];
    for (error, text) in errors {
        assert_eq!(ErrorChain(&*error).to_string(), text);
        assert_eq!(format!("{error:?}"), text);
    }
}
