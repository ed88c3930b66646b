//! The rules of CTF 2 that the tests of conversions apply to metadata: they accept what is right,
//! and refuse what is wrong.

use crate::support;
use std::fs;

use crate::support::ctf2_rules::check;
use crate::support::print_note;
use serde_json::Value;

const SOUND: [&str; 5] = [
    r#"{"type": "preamble", "version": 2}"#,
    r#"{"type": "trace-class", "environment": {"host": "x", "number": -1}}"#,
    r#"{"type": "clock-class", "id": "c", "frequency": 1000}"#,
    r#"{"type": "data-stream-class", "default-clock-class-id": "c",
        "event-record-header-field-class": {"type": "structure", "member-classes": [
            {"name": "t", "field-class": {"type": "fixed-length-unsigned-integer", "length": 64,
                "byte-order": "little-endian", "roles": ["default-clock-timestamp"]}}]}}"#,
    r#"{"type": "event-record-class", "payload-field-class": {"type": "structure",
        "member-classes": [
            {"name": "n", "field-class": {"type": "variable-length-unsigned-integer"}},
            {"name": "text", "field-class": {"type": "dynamic-length-string",
                "length-field-location": {"origin": "event-record-payload", "path": ["n"]}}}]}}"#,
];

fn checked(fragments: &[&str]) -> Result<(), String> {
    let text: String = fragments.iter().map(|fragment| format!("\u{1e}{fragment}\n")).collect();
    check(text.as_bytes())
}

#[test]
fn one_change_makes_sound_metadata_wrong() {
    assert_eq!(checked(&SOUND), Ok(()));
    for (number, before, after) in [
        (0, "2", "3"),
        (1, "-1", "1.5"),
        (1, "trace-class", "trace"),
        (2, "1000", "0"),
        (2, r#""id": "c", "#, ""),
        (3, r#""default-clock-class-id": "c","#, ""),
        (3, r#""c""#, r#""d""#),
        (3, "64", "0"),
        (3, "default-clock-timestamp", "packet-total-length"),
        (3, "little-endian", "middle-endian"),
        (3, r#""length": 64,"#, ""),
        (4, r#"["n"]"#, r#"["m"]"#),
        (4, "variable-length-unsigned-integer", "variable-length-signed-integer"),
        (4, r#""name": "text""#, r#""name": "n""#),
        (4, "event-record-payload", "payload"),
    ] {
        let mut fragments = SOUND.map(str::to_owned);
        fragments[number] = fragments[number].replacen(before, after, 1);
        assert_ne!(fragments[number], SOUND[number], "{before}");
        let fragments: Vec<_> = fragments.iter().map(String::as_str).collect();
        assert!(checked(&fragments).is_err(), "{number}: {after} in place of {before}");
    }
    assert!(checked(&SOUND[1..]).is_err() && checked(&SOUND[..2]).is_err());
    assert!(check(SOUND[0].as_bytes()).is_err());
}

/// The cases of the shared folder whose fault is none of the rules of one object, such as JSON that
/// only a stricter parser refuses.
const NOT_BY_THESE_RULES: usize = 3;

#[test]
fn shared_cases_have_their_verdict() {
    let Some(shared) = support::shared() else {
        return print_note("SKIPPED: there is no ../shared/traces/ctf-metadata");
    };
    let manifest = fs::read(shared.join("expected/ctf-metadata/manifest.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_slice(&manifest).unwrap();
    let (mut accepted, mut refused, mut missed) = (0, 0, Vec::new());
    for case in cases.iter().filter(|case| case["ctf"] == 2) {
        let name = case["name"].as_str().unwrap();
        let metadata = fs::read(shared.join("traces/ctf-metadata").join(name).join("metadata"));
        let verdict = check(&metadata.unwrap());
        match case["expect"].as_str() {
            Some("ok") => {
                assert_eq!(verdict, Ok(()), "{name}");
                accepted += 1;
            }
            Some("error") if verdict.is_err() => refused += 1,
            Some("error") => missed.push(name),
            _ => {}
        }
    }
    print_note(&format!("{accepted} accepted, {refused} refused, not refused: {missed:?}"));
    assert!(accepted > 50 && refused > 100 && missed.len() <= NOT_BY_THESE_RULES);
}
