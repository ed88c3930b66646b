//! Chains of addresses, which markers divide by the mode of the processor.

use super::frames::CodeMode;

/// The least number that is a marker instead of an address: −4095.
const FIRST_MARKER: u64 = -4095_i64 as u64;

/// The marker before addresses of the kernel.
pub(super) const KERNEL: u64 = -128_i64 as u64;
/// The marker before addresses of a program.
pub(super) const USER: u64 = -512_i64 as u64;
const HYPERVISOR: u64 = -32_i64 as u64;
const USER_DEFERRED: u64 = -640_i64 as u64;
const GUEST: u64 = -2048_i64 as u64;
const GUEST_KERNEL: u64 = -2176_i64 as u64;
const GUEST_USER: u64 = -2560_i64 as u64;

/// The maximum number of frames of a stack. The outermost ones of deeper stacks are left out.
const MAX_DEPTH: usize = 1 << 10;

/// The half of the addresses that belongs to the kernel, on all machines that Linux runs on in 64 bits.
const KERNEL_HALF: u64 = 1 << 63;

/// The addresses of a stack, innermost first, with the mode of each.
pub(super) fn addresses(
    words: &[u64],
    first_is_exact: bool,
) -> impl Iterator<Item = (CodeMode, u64)> + '_ {
    let mut mode = None;
    let mut is_exact = first_is_exact;
    let address = move |word: &u64| {
        if *word >= FIRST_MARKER {
            match *word {
                KERNEL => mode = Some(CodeMode::Kernel),
                USER | USER_DEFERRED => mode = Some(CodeMode::User),
                HYPERVISOR | GUEST | GUEST_KERNEL | GUEST_USER => mode = Some(CodeMode::Other),
                // Such as the end of a stack that is shorter than its array.
                _ => return None,
            }
            // The place where the kernel was entered is no call.
            is_exact = first_is_exact;
            return None;
        }
        let by_address = match *word < KERNEL_HALF {
            true => CodeMode::User,
            false => CodeMode::Kernel,
        };
        let back = u64::from(!std::mem::replace(&mut is_exact, false));
        Some((mode.unwrap_or(by_address), word.saturating_sub(back)))
    };
    words.iter().filter_map(address).take(MAX_DEPTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_divide_chains() {
        use CodeMode::{Kernel, Other, User};
        let of = |words: &[u64], exact| addresses(words, exact).collect::<Vec<_>>();
        let chain = [KERNEL, 0xffff_ffff_8000_0010, 0xffff_ffff_8000_0020, USER, 0x40, 0x50];
        let expected = [
            (Kernel, 0xffff_ffff_8000_0010),
            (Kernel, 0xffff_ffff_8000_001f),
            (User, 0x40),
            (User, 0x4f),
        ];
        assert_eq!(of(&chain, true), expected);
        assert_eq!(of(&chain, false)[0], (Kernel, 0xffff_ffff_8000_000f));
        // Without a marker, the half of the address decides.
        assert_eq!(of(&[0x40, 1 << 63 | 9], true), [(User, 0x40), (Kernel, 1 << 63 | 8)]);
        assert_eq!(of(&[GUEST, 0x40, u64::MAX, 0x41], true), [(Other, 0x40), (Other, 0x40)]);
        assert_eq!(of(&[0; 5000], true).len(), MAX_DEPTH);
    }
}
