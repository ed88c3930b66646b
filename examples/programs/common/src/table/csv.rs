//! Tables as comma-separated values.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Cell, Table};

/// Writes the keys of the columns, then the rows.
pub(super) fn write(out: &mut impl Write, table: &Table) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(table.columns.iter().map(|column| column.key))?;
    for row in table.rows() {
        csv.write_record(row.iter().map(|cell| entry(cell).into_owned()))?;
    }
    csv.flush()
}

/// Returns `true` if a spreadsheet takes a cell for a formula, and not for a text or number. The traced
/// programs choose their names and those of files, so an apostrophe precedes such a cell.
pub fn is_formula(text: &[u8]) -> bool {
    let is_number = || std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok());
    matches!(text, [b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r', _, ..]) && !is_number()
}

/// Returns the text of a cell.
fn entry(cell: &Cell) -> Cow<'_, str> {
    match cell {
        Cell::Empty => Cow::Borrowed(""),
        Cell::Text(text) if is_formula(text.as_bytes()) => format!("'{text}").into(),
        Cell::Text(text) => Cow::Borrowed(text),
        Cell::Integer(number) => number.to_string().into(),
        Cell::Number(number) => number.to_string().into(),
        Cell::Time(time) => time.as_ns().to_string().into(),
        Cell::Duration(ns) => ns.to_string().into(),
        Cell::Difference(ns) => ns.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_formula;

    #[test]
    fn texts_that_spreadsheets_evaluate_are_formulas_and_numbers_are_not() {
        for text in ["=HYPERLINK(1)", "+1+1", "-bash", "@SUM(1)", "\t=1", "-1+1", "--1"] {
            assert!(is_formula(text.as_bytes()), "{text}");
        }
        for text in ["", "-", "=", "-1", "+1.5", "-1e9", "bash", "a=1", "1-1"] {
            assert!(!is_formula(text.as_bytes()), "{text}");
        }
    }
}
