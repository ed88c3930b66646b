//! Metadata of the traces of a session, in pieces.

use super::{Feed, LiveTrace, MAX_METADATA};
use crate::growth::GrowingTrace;
use crate::report::Error;

impl LiveTrace {
    /// Notes that metadata cannot be parsed: it may end within a declaration. Other errors are
    /// returned.
    fn refuse(&mut self, error: Error) -> Result<(), Error> {
        match error {
            Error::Metadata { .. } => {
                self.error = Some(error);
                Ok(())
            }
            error => Err(error),
        }
    }
}

impl Feed {
    /// Returns the metadata stream that has to be requested.
    pub(in crate::live) fn metadata_wanted(&self) -> Option<u64> {
        let mut wanted = self.traces.iter().filter(|trace| trace.wants_metadata);
        wanted.find_map(|trace| trace.metadata_stream)
    }

    /// Adds a piece of metadata. `end` says that there is no more now, and whether there never
    /// will be more.
    pub(in crate::live) fn add_metadata(
        &mut self,
        stream: u64,
        data: Vec<u8>,
        end: Option<bool>,
    ) -> Result<(), Error> {
        let of = |trace: &&mut LiveTrace| trace.metadata_stream == Some(stream);
        let Some(trace) = self.traces.iter_mut().find(of) else { return Ok(()) };
        // An empty piece is not followed by others.
        trace.wants_metadata = end.is_none() && !data.is_empty();
        self.metadata_size = self.metadata_size.saturating_add(data.len());
        if self.metadata_size > MAX_METADATA {
            let reason = "it is larger than 256 MiB";
            return Err(Error::MetadataChanged { path: trace.path.clone().into(), reason });
        }
        trace.metadata.extend_from_slice(&data);
        if end == Some(true) {
            trace.metadata_stream = None;
        }
        if data.is_empty() && trace.growing.is_some() {
            return Ok(());
        }
        self.parse_metadata(stream)
    }

    /// Parses the metadata that has arrived.
    fn parse_metadata(&mut self, stream: u64) -> Result<(), Error> {
        let Some(at) = self.traces.iter().position(|it| it.metadata_stream == Some(stream)) else {
            return Ok(());
        };
        let trace = &mut self.traces[at];
        if trace.metadata.len() < trace.known_metadata {
            return Ok(());
        }
        if let Some((growing, _)) = &mut trace.growing {
            let extended = growing.extend_metadata(&trace.metadata);
            trace.error = None;
            return match extended {
                Ok(has_grown) => {
                    self.has_grown |= has_grown;
                    Ok(())
                }
                Err(error) => trace.refuse(error),
            };
        }
        let path = self.root.join(&trace.path);
        let mut growing = match GrowingTrace::new(path, &trace.metadata) {
            Ok(growing) => growing,
            Err(error) => return trace.refuse(error),
        };
        trace.error = None;
        self.has_grown = true;
        for stream in self.streams.iter_mut().filter(|stream| stream.trace == at) {
            let name = stream.name.rsplit('/').next().unwrap_or_default();
            let tracefile = growing.add_tracefile(name);
            stream.tracefile = Some(tracefile);
            for packet in stream.waiting.drain(..) {
                growing.append(tracefile, packet);
            }
            if stream.is_over {
                growing.complete(tracefile);
            }
        }
        let number = self.traces.iter().filter(|trace| trace.growing.is_some()).count();
        self.traces[at].growing = Some((growing, number));
        for stream in 0..self.streams.len() {
            if self.streams[stream].trace == at {
                self.apply_beacon(stream);
            }
        }
        Ok(())
    }

    /// Returns the reasons why the metadata of traces cannot be parsed as far as it has arrived.
    /// A trace of which nothing has arrived has none.
    pub(in crate::live) fn metadata_errors(&self) -> impl Iterator<Item = &Error> {
        self.unparsed().filter_map(|trace| self.traces[trace].error.as_ref())
    }

    /// Takes the first of the [`metadata_errors`](Self::metadata_errors).
    pub(in crate::live) fn take_metadata_error(&mut self) -> Option<Error> {
        let first = self.unparsed().next()?;
        self.traces[first].error.take()
    }

    /// Returns the indices of the traces with metadata or packets, but without valid metadata.
    fn unparsed(&self) -> impl Iterator<Item = usize> + '_ {
        let has_data = |at: &usize| {
            let mut streams = self.streams.iter().filter(|stream| stream.trace == *at);
            !self.traces[*at].metadata.is_empty() || streams.any(|it| !it.waiting.is_empty())
        };
        let failed = (0..self.traces.len()).filter(|at| self.traces[*at].error.is_some());
        failed.filter(has_data)
    }
}
