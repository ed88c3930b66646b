//! Any bytes as metadata: a schema or a diagnostic, never a crash.
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
