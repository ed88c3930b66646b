//! Access to records by programs.

use std::borrow::Cow;

use crate::model::Model;

/// A record that programs can test: an event, or a record of an application. The functions
/// are those of [`Model`].
pub(crate) trait Record<F> {
    fn record_type(&self) -> u32;
    fn integer(&self, field: &F) -> Option<u64>;
    fn float(&self, field: &F) -> Option<f64>;
    fn text<'a>(&'a self, field: &F) -> Option<Cow<'a, [u8]>>;
    fn has(&self, field: &F) -> bool;
}

/// A record of a model.
pub(crate) struct ModelRecord<'a, 'r, M: Model>(pub(crate) &'a M::Record<'r>);

impl<M: Model> Record<M::Field> for ModelRecord<'_, '_, M> {
    #[inline(always)]
    fn record_type(&self) -> u32 {
        M::record_type(self.0)
    }

    #[inline(always)]
    fn integer(&self, field: &M::Field) -> Option<u64> {
        M::integer(self.0, field)
    }

    #[inline(always)]
    fn float(&self, field: &M::Field) -> Option<f64> {
        M::float(self.0, field)
    }

    #[inline(always)]
    fn text<'a>(&'a self, field: &M::Field) -> Option<Cow<'a, [u8]>> {
        M::text(self.0, field)
    }

    #[inline(always)]
    fn has(&self, field: &M::Field) -> bool {
        M::has(self.0, field)
    }
}
