//! Files that are truncated while they are served do no harm to the server.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Running, traces};
use lttv_server::http::guard::Guard;
use serde_json::json;

const EVENTS: &str = "/outputs/table/org.eclipse.tracecompass.internal.provisional.tmf.core.model\
                      .events.TmfEventTableDataProvider/lines";

/// Returns all files below a directory.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    fs::read_dir(path).unwrap().flat_map(|entry| files(&entry.unwrap().path())).collect()
}

#[test]
fn a_trace_whose_files_are_truncated_is_served_further() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (traces().join("kernel"), directory.path().join("trace"));
    for file in files(&from) {
        let copy = to.join(file.strip_prefix(&from).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(file, copy).unwrap();
    }
    let server = Running::start(directory.path(), Guard::default());
    let (experiment, model) = server.experiment("truncated", &[&to]);
    for file in files(&to).iter().filter(|file| file.file_name().unwrap() != "metadata") {
        fs::File::options().write(true).open(file).unwrap().set_len(0).unwrap();
    }
    let size = model["nbEvents"].as_u64().unwrap();
    for index in [0, size / 2, size - 1] {
        let lines = json!({ "requested_table_index": index, "requested_table_count": 1 });
        let lines = server.complete(&format!("{experiment}{EVENTS}"), lines);
        assert_eq!(lines["lines"].as_array().unwrap().len(), 1, "{index}");
    }
}
