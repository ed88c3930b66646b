//! The catalogue of tables, which are created when a query names them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::error::DataFusionError;
use lttv_arrow::{EVENTS, Tables};

use crate::events::EventsProvider;
use crate::shared::Shared;
use crate::whole::{Whole, WholeProvider};

/// The catalogue: the schema of the traces, and those that users add.
#[derive(Debug)]
pub(crate) struct TraceCatalog {
    schema: &'static str,
    shared: Arc<Shared>,
    others: Mutex<HashMap<String, Arc<dyn SchemaProvider>>>,
}

impl TraceCatalog {
    pub(crate) fn new(schema: &'static str, shared: &Arc<Shared>) -> Self {
        TraceCatalog { schema, shared: Arc::clone(shared), others: Mutex::default() }
    }

    fn others(&self) -> MutexGuard<'_, HashMap<String, Arc<dyn SchemaProvider>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CatalogProvider for TraceCatalog {
    fn schema_names(&self) -> Vec<String> {
        let mut names = vec![self.schema.to_owned()];
        names.extend(self.others().keys().cloned());
        names.sort_unstable();
        names
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        if name == self.schema {
            return Some(Arc::new(TraceSchema { shared: Arc::clone(&self.shared) }));
        }
        self.others().get(name).cloned()
    }

    fn register_schema(
        &self,
        name: &str,
        schema: Arc<dyn SchemaProvider>,
    ) -> Result<Option<Arc<dyn SchemaProvider>>, DataFusionError> {
        if name == self.schema {
            let what = format!("the schema {name} contains the traces");
            return Err(DataFusionError::Plan(what));
        }
        Ok(self.others().insert(name.to_owned(), schema))
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
    /// A table that is computed from whole traces.
    Whole,
    /// The table of the event types of this name.
    Type(String),
}

/// Finds the table of a name. An event type named like another table has `_type` after its name.
fn find(tables: &Tables, name: &str) -> Option<Known> {
    if name == EVENTS {
        return Some(Known::All);
    }
    if Whole::ALL.iter().any(|whole| whole.name() == name) {
        return Some(Known::Whole);
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

/// Returns the table of a name; `None` if there is none.
pub(crate) fn provider(shared: &Arc<Shared>, name: &str) -> Option<Arc<dyn TableProvider>> {
    if let Some(whole) = whole(shared, name) {
        return Some(Arc::new(whole));
    }
    Some(Arc::new(events(shared, name)?))
}

/// Returns the table that is computed from whole traces; `None` for other names.
pub(crate) fn whole(shared: &Arc<Shared>, name: &str) -> Option<WholeProvider> {
    let whole = Whole::ALL.into_iter().find(|whole| whole.name() == name)?;
    Some(WholeProvider::new(whole, shared))
}

/// Returns the table of events of a name; `None` if there is none.
pub(crate) fn events(shared: &Arc<Shared>, name: &str) -> Option<EventsProvider> {
    let known = find(&shared.tables, name)?;
    let kept = || shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(table) = kept().tables.get(name) {
        return Some(EventsProvider::new(name, Arc::clone(table), shared));
    }
    let table = match known {
        Known::All => shared.tables.all(),
        Known::Type(of) => shared.tables.of(&of)?,
        Known::Whole => return None,
    };
    let table = if shared.options.kernel_state { table.with_kernel_state() } else { table };
    let table = Arc::new(table);
    kept().tables.insert(name.to_owned(), Arc::clone(&table));
    Some(EventsProvider::new(name, table, shared))
}

#[async_trait]
impl SchemaProvider for TraceSchema {
    fn table_names(&self) -> Vec<String> {
        table_names(&self.shared.tables)
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        Ok(provider(&self.shared, name))
    }

    fn table_exist(&self, name: &str) -> bool {
        find(&self.shared.tables, name).is_some()
    }
}
