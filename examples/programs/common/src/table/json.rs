//! Tables as JSON.

use std::io::{self, Write};

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::{Cell, Column, Table};

/// Writes one object, with a list of rows for each table.
pub(super) fn write(out: &mut impl Write, tables: &[Table]) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Tables(tables))?;
    writeln!(out)
}

/// Returns the rows of a table as a list of objects.
pub(super) fn rows(table: &Table) -> serde_json::Value {
    // Keys are strings, so that this cannot fail.
    serde_json::to_value(Rows(table)).unwrap_or_default()
}

struct Tables<'t>(&'t [Table]);

impl Serialize for Tables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|table| (table.key, Rows(table))))
    }
}

struct Rows<'t>(&'t Table);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.rows().count()))?;
        for row in self.0.rows() {
            list.serialize_element(&Row(&self.0.columns, row))?;
        }
        list.end()
    }
}

struct Row<'t>(&'t [Column], &'t [Cell]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.0.len()))?;
        for (column, cell) in self.0.iter().zip(self.1) {
            match cell {
                Cell::Empty => object.serialize_entry(column.key, &())?,
                Cell::Text(text) => object.serialize_entry(column.key, text)?,
                Cell::Integer(number) => object.serialize_entry(column.key, number)?,
                Cell::Number(number) => object.serialize_entry(column.key, number)?,
                Cell::Time(time) => object.serialize_entry(column.key, &time.as_ns())?,
                Cell::Duration(ns) => object.serialize_entry(column.key, ns)?,
                Cell::Difference(ns) => object.serialize_entry(column.key, ns)?,
            }
        }
        object.end()
    }
}
