//! Formats that the extensions of files name.

use std::path::Path;

/// The extensions that name a format, and its name.
const EXTENSIONS: [(&str, &str); 21] = [
    ("csv", "csv"),
    ("tsv", "tsv"),
    ("json", "json"),
    ("jsonl", "json"),
    ("ndjson", "json"),
    ("html", "html"),
    ("htm", "html"),
    ("xhtml", "html"),
    ("folded", "folded"),
    ("svg", "svg"),
    ("png", "png"),
    ("jpg", "jpg"),
    ("jpeg", "jpg"),
    ("gif", "gif"),
    ("webp", "webp"),
    ("pdf", "pdf"),
    ("parquet", "parquet"),
    ("arrow", "arrow"),
    ("xlsx", "xlsx"),
    ("ods", "ods"),
    ("sqlite", "sqlite"),
];

/// Returns the format that the extension of a file names, one of `formats`; `None` if it names
/// none. `given` is the format that the user requested.
///
/// # Errors
///
/// Returns a message if the extension names a format that is not among `formats`, or another one
/// than `given`: the file would not be what its name says.
///
/// ```
/// use lttv_common::extension;
///
/// let formats = ["text", "json", "csv"];
/// let format = |path: &str, given| extension::format(path.as_ref(), &formats, given);
/// assert_eq!(format("a/b.CSV", None), Ok(Some("csv")));
/// assert_eq!(format("results.txt", Some("csv")), Ok(None));
/// assert!(format("b.csv", Some("json")).is_err() && format("b.svg", None).is_err());
/// ```
pub fn format<'f>(
    path: &Path,
    formats: &[&'f str],
    given: Option<&str>,
) -> Result<Option<&'f str>, String> {
    let Some(extension) = path.extension().and_then(|it| it.to_str()) else { return Ok(None) };
    let is_it = |(known, _): &&(&str, &str)| extension.eq_ignore_ascii_case(known);
    let Some((_, named)) = EXTENSIONS.iter().find(is_it) else { return Ok(None) };
    let path = path.display();
    match formats.iter().find(|format| *format == named) {
        None => Err(format!("{path}: no results in the format {named}, but {}", list(formats))),
        Some(_) if given.is_some_and(|given| given != *named) => Err(format!(
            "{path}: the extension says {named}, but the requested format is {}",
            given.unwrap_or_default()
        )),
        Some(format) => Ok(Some(format)),
    }
}

fn list(formats: &[&str]) -> String {
    match formats {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
