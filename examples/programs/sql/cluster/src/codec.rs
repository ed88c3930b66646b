//! Tables and reads of traces within the plans that processes exchange.
//!
//! A message begins with a magic number; all others are left to the codecs of Ballista.

use std::sync::Arc;

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF, WindowUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use lttv_sql::remote::{self, ScanMessage, TableMessage};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sessions::Sessions;

/// The first bytes of our messages. The last of them is the version.
const MAGIC: &[u8; 8] = b"\xfflttv-q\x01";

/// The codec of logical plans, with tables of traces.
#[derive(Debug, Default)]
pub struct TraceLogicalCodec {
    sessions: Arc<Sessions>,
    others: BallistaLogicalExtensionCodec,
}

/// The codec of physical plans, with reads of traces.
#[derive(Debug)]
pub struct TracePhysicalCodec {
    sessions: Arc<Sessions>,
    others: BallistaPhysicalExtensionCodec,
}

impl TraceLogicalCodec {
    /// Creates a codec that opens traces as sessions of `sessions`.
    pub fn new(sessions: &Arc<Sessions>) -> Self {
        TraceLogicalCodec { sessions: Arc::clone(sessions), ..Self::default() }
    }
}

impl TracePhysicalCodec {
    /// Creates a codec that opens traces as sessions of `sessions`.
    pub fn new(sessions: &Arc<Sessions>) -> Self {
        TracePhysicalCodec { sessions: Arc::clone(sessions), others: Default::default() }
    }
}

fn write<M: Serialize>(message: &M, buf: &mut Vec<u8>) -> Result<()> {
    buf.extend_from_slice(MAGIC);
    serde_json::to_writer(buf, message).map_err(|error| DataFusionError::External(error.into()))
}

/// Reads a message of ours; `None` if it is another one.
fn read<M: DeserializeOwned>(buf: &[u8]) -> Result<Option<M>> {
    let message = buf.strip_prefix(MAGIC).map(serde_json::from_slice).transpose();
    message.map_err(|error| DataFusionError::External(error.into()))
}

impl LogicalExtensionCodec for TraceLogicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[LogicalPlan],
        ctx: &TaskContext,
    ) -> Result<Extension> {
        self.others.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.others.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let Some(TableMessage { dataset, name }) = read(buf)? else {
            return self.others.try_decode_table_provider(buf, table, schema, ctx);
        };
        let session = self.sessions.of(&dataset)?;
        let missing = || DataFusionError::Plan(format!("there is no table {name:?}"));
        session.table(&name).ok_or_else(missing)
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        match remote::table_message(&*node) {
            Some(message) => write(&message, buf),
            None => self.others.try_encode_table_provider(table, node, buf),
        }
    }

    fn try_decode_file_format(
        &self,
        buf: &[u8],
        ctx: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.others.try_decode_file_format(buf, ctx)
    }

    fn try_encode_file_format(
        &self,
        buf: &mut Vec<u8>,
        node: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        self.others.try_encode_file_format(buf, node)
    }
}

impl PhysicalExtensionCodec for TracePhysicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match read::<ScanMessage>(buf)? {
            Some(message) => self.sessions.of(message.dataset())?.plan(&message),
            None => self.others.try_decode(buf, inputs, ctx, converter),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match remote::scan_message(&*node) {
            Some(message) => write(&message, buf),
            None => self.others.try_encode(node, buf, converter),
        }
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.others.try_decode_udf(name, buf)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.others.try_encode_udf(node, buf)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.others.try_decode_udaf(name, buf)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.others.try_encode_udaf(node, buf)
    }

    fn try_decode_udwf(&self, name: &str, buf: &[u8]) -> Result<Arc<WindowUDF>> {
        self.others.try_decode_udwf(name, buf)
    }

    fn try_encode_udwf(&self, node: &WindowUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.others.try_encode_udwf(node, buf)
    }
}
