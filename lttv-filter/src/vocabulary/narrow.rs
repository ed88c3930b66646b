//! The record types that can pass the terms of an expression.

use super::Vocabulary;
use crate::compile::{self, Node};
use crate::environment::Environment;
use crate::model::{FieldType, Model, Resolution};
use crate::syntax::{Expr, Selector};
use crate::verdict::Verdict;

/// The record types for which some terms can hold together.
#[derive(Debug)]
pub(super) struct Passing {
    types: Vec<bool>,
    /// `true` if the terms exclude any type.
    pub(super) is_narrow: bool,
}

impl Passing {
    /// Determines the record types that can pass all of the terms. Terms that no filter
    /// can have are ignored.
    pub(super) fn of(vocabulary: &Vocabulary, terms: Vec<Expr>) -> Self {
        let source = &vocabulary.source;
        let mut types = vec![true; source.types() as usize];
        // The day has no influence on the types. In one day, each time of day has a meaning.
        let environment = Environment::new().within(0, 86_399_999_999_999_i64);
        for tree in terms {
            let tree = source.with_names(tree);
            let checked = compile::check(&tree, source, &environment, &|_, _| None);
            if checked.faults.is_empty() {
                let can = checked.trees.iter().map(|tree| Node::verdict(tree) != Verdict::Never);
                types.iter_mut().zip(can).for_each(|(passes, can)| *passes &= can);
            }
        }
        let is_narrow = types.contains(&false) && types.contains(&true);
        Passing { types, is_narrow }
    }

    /// Returns `true` if records of a type can pass.
    pub(super) fn contains(&self, record_type: u32) -> bool {
        self.types.get(record_type as usize).copied().unwrap_or(false)
    }

    /// Returns the results of resolving a selector for the types that can pass, or for all
    /// types if none of these has a field that can be compared.
    pub(super) fn find(&self, vocabulary: &Vocabulary, selector: &Selector) -> Vec<Resolution<()>> {
        let source = &vocabulary.source;
        let of = |passes: bool| {
            let types = (0..source.types()).filter(move |id| !passes || self.contains(*id));
            let found = types.map(|id| source.find(id, selector));
            found.filter(|found| !matches!(found, Resolution::Nothing)).collect::<Vec<_>>()
        };
        let found = of(true);
        let can_be_compared = types(&found).iter().any(|of| !of.relations().is_empty());
        if can_be_compared { found } else { of(false) }
    }
}

/// Returns the types of fields that were found, without duplicates.
pub(super) fn types(found: &[Resolution<()>]) -> Vec<FieldType> {
    let mut types: Vec<FieldType> = Vec::new();
    let mut add = |of: &FieldType| {
        if !types.contains(of) {
            types.push(of.clone());
        }
    };
    for found in found {
        match found {
            Resolution::Nothing => {}
            Resolution::Constant(constant) => add(&constant.field_type),
            Resolution::OneOf(_, values) => {
                values.iter().flatten().for_each(|constant| add(&constant.field_type));
            }
            Resolution::Fields(fields) => fields.iter().for_each(|field| add(&field.field_type)),
        }
    }
    types
}
