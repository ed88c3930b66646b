//! The places of files of Parquet: the file system, and stores of objects.

use std::path::Path;
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use url::Url;

/// The stores of a process. Buckets of S3 are opened when a query names them; the address of the server and
/// the access to it are those of the usual environment variables, such as `AWS_ENDPOINT_URL`.
#[derive(Debug, Default)]
struct Stores {
    known: DefaultObjectStoreRegistry,
}

impl ObjectStoreRegistry for Stores {
    fn register_store(
        &self,
        url: &Url,
        store: Arc<dyn ObjectStore>,
    ) -> Option<Arc<dyn ObjectStore>> {
        self.known.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        let bucket = url.host_str().filter(|_| url.scheme() == "s3");
        match (self.known.get_store(url), bucket) {
            (Err(_), Some(bucket)) => {
                let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build();
                let store = store.map_err(|error| DataFusionError::External(error.into()))?;
                let store: Arc<dyn ObjectStore> = Arc::new(store);
                self.known.register_store(url, Arc::clone(&store));
                Ok(store)
            }
            (known, _) => known,
        }
    }
}

/// Creates the environment of queries, with large intermediate results in `folder`.
pub(crate) fn environment(folder: Option<&Path>) -> Result<Arc<RuntimeEnv>> {
    let mut builder =
        RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default()));
    if let Some(folder) = folder {
        builder = builder.with_temp_file_path(folder);
    }
    builder.build_arc()
}
