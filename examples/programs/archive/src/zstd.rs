//! Reading of zstd: any number of frames.

use std::io::{self, BufRead, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The number of bytes that are decompressed at once, at least.
const STEP: usize = 1 << 16;

/// The frames of a stream, decompressed.
pub(crate) struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    /// `true` within a frame.
    is_open: bool,
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(input: R) -> Self {
        Frames { input, decoder: FrameDecoder::new(), is_open: false }
    }

    /// Starts the next frame. Returns `false` at the end of the stream.
    fn next(&mut self) -> io::Result<bool> {
        loop {
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.input) {
                Ok(()) => return Ok(true),
                // The data of a user, which belongs to no file.
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.input).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::new(ErrorKind::InvalidData, error)),
            }
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if !self.is_open {
                if !self.next()? {
                    break;
                }
                self.is_open = true;
            }
            if self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let some = BlockDecodingStrategy::UptoBytes(STEP);
                let decoded = self.decoder.decode_blocks(&mut self.input, some);
                decoded.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.is_open = !self.decoder.is_finished();
        }
        Ok(0)
    }
}
