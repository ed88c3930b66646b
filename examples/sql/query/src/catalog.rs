//! The catalogue of tables, which are created when a query names them.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::error::DataFusionError;
use lttv_arrow::{EVENTS, Tables};

use crate::events::EventsProvider;
use crate::shared::Shared;
use crate::whole::{Whole, WholeProvider};

/// The catalogue with a single schema.
#[derive(Debug)]
pub(crate) struct TraceCatalog {
    schema: &'static str,
    shared: Arc<Shared>,
}

impl TraceCatalog {
    pub(crate) fn new(schema: &'static str, shared: &Arc<Shared>) -> Self {
        TraceCatalog { schema, shared: Arc::clone(shared) }
    }
}

impl CatalogProvider for TraceCatalog {
    fn schema_names(&self) -> Vec<String> {
        vec![self.schema.to_owned()]
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let schema = || Arc::new(TraceSchema { shared: Arc::clone(&self.shared) });
        (name == self.schema).then(|| schema() as Arc<dyn SchemaProvider>)
    }
}

/// The schema: all tables.
#[derive(Debug)]
struct TraceSchema {
    shared: Arc<Shared>,
}

/// A table of this name.
enum Known {
    All,
    Whole(Whole),
    /// The table of the event types of this name.
    Type(String),
}

/// Finds the table of a name. An event type named like another table has `_type` after its name.
fn find(tables: &Tables, name: &str) -> Option<Known> {
    if name == EVENTS {
        return Some(Known::All);
    }
    if let Some(whole) = Whole::ALL.into_iter().find(|whole| whole.name() == name) {
        return Some(Known::Whole(whole));
    }
    let has = |name: &str| tables.names().binary_search_by(|of| (**of).cmp(name)).is_ok();
    let shadowed = name.strip_suffix("_type").filter(|of| is_taken(of) && has(of));
    let name = if has(name) { name } else { shadowed? };
    Some(Known::Type(name.to_owned()))
}

fn is_taken(name: &str) -> bool {
    name == EVENTS || Whole::ALL.iter().any(|whole| whole.name() == name)
}

/// Returns the names of all tables.
pub(crate) fn table_names(tables: &Tables) -> Vec<String> {
    let mut names = vec![EVENTS.to_owned()];
    names.extend(Whole::ALL.iter().map(|whole| whole.name().to_owned()));
    names.sort_unstable();
    names.extend(tables.names().iter().map(|name| match is_taken(name) {
        true => format!("{name}_type"),
        false => name.clone(),
    }));
    names
}

#[async_trait]
impl SchemaProvider for TraceSchema {
    fn table_names(&self) -> Vec<String> {
        table_names(&self.shared.tables)
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let shared = &self.shared;
        Ok(match find(&shared.tables, name) {
            None => None,
            Some(Known::All) => {
                Some(Arc::new(EventsProvider::new(shared.tables.all(), shared)) as _)
            }
            Some(Known::Type(of)) => {
                let table = shared.tables.of(&of);
                table.map(|table| Arc::new(EventsProvider::new(table, shared)) as _)
            }
            Some(Known::Whole(whole)) => Some(Arc::new(WholeProvider::new(whole, shared)) as _),
        })
    }

    fn table_exist(&self, name: &str) -> bool {
        find(&self.shared.tables, name).is_some()
    }
}
