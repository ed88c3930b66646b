//! Directories generated from random bytes, opened and read in all ways.

use proptest::prelude::*;

use crate::support;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn all_ways_to_read_a_directory_agree(data in prop::collection::vec(any::<u8>(), 0..500)) {
        support::directory::check(&data);
    }

    /// Checks the property with fewer directories, names and kinds of metadata, so that
    /// most directories are traces.
    #[test]
    fn all_ways_to_read_traces_agree(
        steps in prop::collection::vec((0u8..8, 0u8..3, 4u8..11, 0u8..4, 0u8..4), 1..40),
    ) {
        // A trace in the first two directories.
        let mut data = vec![0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 4, 0, 0, 1, 2, 4, 0, 0];
        for (step, dir, name, a, b) in steps {
            let name = if step == 0 { a } else { name };
            data.extend([step, dir, name, a * 5 + b, a, b, b]);
        }
        support::directory::check(&data);
    }
}
