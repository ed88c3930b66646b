//! Random traces, written and read back.

mod support;

use ltt_read::schema::Format;
use proptest::prelude::*;
use support::case::{Case, Expected, case};

/// Checks what can be told without decoding: everything can be expressed, and
/// files hold the same as memory.
fn check(case: &Case) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let written = case.write(dir.path());
    prop_assert!(written.is_ok(), "{}", written.unwrap_err());
    let metadata = std::fs::read(dir.path().join("metadata")).expect("metadata");
    prop_assert!(!metadata.is_empty());
    for (i, events) in case.expected().iter().enumerate() {
        let file = std::fs::read(dir.path().join(Case::file_name(i))).expect("a stream");
        prop_assert_eq!(Some(file.clone()), case.bytes(i).ok());
        check_stream(&file, events)?;
    }
    Ok(())
}

fn check_stream(bytes: &[u8], events: &[Expected]) -> Result<(), TestCaseError> {
    prop_assert_eq!(bytes.is_empty(), events.is_empty());
    prop_assert!(events.is_sorted_by_key(|event| event.timestamp));
    prop_assert!(events.iter().all(|event| event.is(event)));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn ctf_1_8(case in case(Format::Ctf1)) {
        check(&case)?;
    }

    #[test]
    fn ctf_2(case in case(Format::Ctf2)) {
        check(&case)?;
    }
}
