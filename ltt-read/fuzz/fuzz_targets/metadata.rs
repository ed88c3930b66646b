//! Arbitrary bytes as metadata. The result must be a schema or a diagnostic.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    match ltt_read::metadata::parse(data) {
        Ok(parsed) => drop(format!("{:?}", parsed.warnings)),
        Err(error) => {
            assert!(!error.diagnostics.is_empty());
            drop(error.to_string());
        }
    }
});
