//! Resolves locations to value slots.

use super::Diagnostic;
use crate::schema::Schema;

pub(super) fn resolve(_schema: &mut Schema) -> Result<(), Vec<Diagnostic>> {
    Ok(())
}
