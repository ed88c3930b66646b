//! The functions of the kernel.

use std::fs;
use std::path::Path;

use ltt_read::Trace;

use super::error::SymbolError;

/// The distance from the last function within which an address still belongs to it, in bytes.
const LAST_SIZE: u64 = 1 << 16;

/// The names of functions of a kernel, by their addresses.
///
/// ```
/// use lttv_state::symbols::KernelSymbols;
///
/// let text = b"ffffffff81000000 T _stext\nffffffff81000100 t do_idle\nffffffffc0000000 t f\t[loop]\n";
/// let symbols = KernelSymbols::parse(text);
/// assert_eq!(symbols.function(0xffff_ffff_8100_0123).as_deref(), Some("do_idle"));
/// assert_eq!(symbols.function(0xffff_ffff_c000_0010).as_deref(), Some("f [loop]"));
/// assert_eq!(symbols.function(0x1000), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct KernelSymbols {
    text: Box<[u8]>,
    /// The symbols by address. Those that are no functions end the functions before them.
    all: Vec<KernelSymbol>,
}

/// A symbol, with the place of its name in the text.
#[derive(Debug, Clone, Copy)]
struct KernelSymbol {
    address: u64,
    begin: u32,
    len: u16,
    /// The suitability of the name among those of the same address: the smallest is taken. `None` if it is no
    /// function.
    rank: Option<u8>,
}

impl KernelSymbols {
    /// Reads a table in the form of `/proc/kallsyms`: lines of an address in hexadecimal digits, the type, the
    /// name and, after a tab, the module in brackets. Other lines, and symbols without an address, are left
    /// out.
    pub fn parse(text: &[u8]) -> Self {
        let text: Box<[u8]> = text[..text.len().min(u32::MAX as usize)].into();
        let mut all = Vec::new();
        let mut begin = 0;
        for line in text.split(|byte| *byte == b'\n') {
            all.extend(symbol(line, begin).filter(|symbol| symbol.address != 0));
            begin += line.len() + 1;
        }
        // Names without a rank come last among those of an address.
        all.sort_by_key(|symbol| (symbol.address, symbol.rank.unwrap_or(u8::MAX)));
        all.dedup_by_key(|symbol| symbol.address);
        KernelSymbols { text, all }
    }

    /// Reads the functions of the kernel of a trace: those in the trace, else those of a file. `base` is the address of the
    /// first byte of the kernel, if it is known.
    pub(super) fn of(
        trace: &Trace,
        path: Option<&Path>,
        base: Option<u64>,
    ) -> Result<Self, SymbolError> {
        let own = trace.kernel_symbols().map_err(|source| SymbolError::InTrace { source })?;
        let own = own.map(|text| KernelSymbols::parse(&text)).filter(|own| !own.all.is_empty());
        if let Some(own) = own {
            return Ok(own);
        }
        let Some(path) = path else { return Ok(KernelSymbols::default()) };
        let path_of = || path.to_owned();
        let read = |source| SymbolError::Read { path: path_of(), source };
        let symbols = KernelSymbols::parse(&fs::read(path).map_err(read)?);
        if symbols.all.is_empty() {
            return Err(SymbolError::NoAddresses { path: path_of() });
        }
        let is_base = |symbol: &KernelSymbol| Some(symbol.address) == base;
        match base.is_none() || symbols.all.iter().any(is_base) {
            true => Ok(symbols),
            false => Err(SymbolError::OtherKernel { path: path_of() }),
        }
    }

    /// Returns the name of the function at an address, with its module in brackets unless it is the kernel itself;
    /// `None` if it is unknown.
    pub fn function(&self, address: u64) -> Option<String> {
        let after = self.all.partition_point(|symbol| symbol.address <= address);
        let symbol = self.all.get(after.checked_sub(1)?)?;
        symbol.rank?;
        if after == self.all.len() && address - symbol.address >= LAST_SIZE {
            return None;
        }
        let name = self.text.get(symbol.begin as usize..)?.get(..symbol.len.into())?;
        Some(String::from_utf8_lossy(name).replace('\t', " "))
    }
}

/// Parses a line that begins at a place of the text.
fn symbol(line: &[u8], begin: usize) -> Option<KernelSymbol> {
    let (address, rest) = line.split_at_checked(line.iter().position(|byte| *byte == b' ')?)?;
    let address = u64::from_str_radix(str::from_utf8(address).ok()?, 16).ok()?;
    let [b' ', kind, b' ', name @ ..] = rest else { return None };
    let kind_rank = match kind {
        b'T' => Some(0),
        b't' => Some(1),
        b'W' | b'w' => Some(2),
        _ => None,
    };
    let underscores = name.iter().take_while(|byte| **byte == b'_').count().min(8) as u8;
    Some(KernelSymbol {
        address,
        begin: u32::try_from(begin + line.len() - name.len()).ok()?,
        len: u16::try_from(name.len()).ok()?,
        rank: kind_rank.map(|rank| 16 * rank + underscores),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_functions() {
        let text = "ffffffff81000000 W weak\nffffffff81000000 t local\nffffffff81000000 T __global\n\
                    ffffffff81000000 T global\nffffffff81000040 D data\n0000000000000000 T hidden\n\
                    rubbish\nffffffff81000080 T last";
        let symbols = KernelSymbols::parse(text.as_bytes());
        let at = |offset: u64| symbols.function(0xffff_ffff_8100_0000 + offset);
        assert_eq!(at(0).as_deref(), Some("global"));
        assert_eq!(at(0x3f).as_deref(), Some("global"));
        assert_eq!((at(0x40), at(0x7f)), (None, None));
        assert_eq!(at(0x80 + LAST_SIZE - 1).as_deref(), Some("last"));
        assert_eq!(at(0x80 + LAST_SIZE), None);
        assert_eq!(KernelSymbols::parse(b"0 T a\n0 t b").function(0), None);
    }
}
