//! Linear transforms of clocks, in integers.

use super::time::Timestamp;

/// The number of fractional bits of a slope.
const FRACTION: u32 = 62;

/// A linear map of the times that one clock recorded to the times of another one.
///
/// The map is `time = origin_time + floor(slope · (recorded − origin))`. The slope is a
/// multiple of 2⁻⁶² from ½ to 2, and all arithmetic is in integers: the result is the same on
/// every machine, without any error besides the rounding down.
///
/// # Properties
///
/// * *Monotone*: a later recorded time never has an earlier image, since the product with
///   a positive slope, the addition and the rounding each keep the order.
/// * Where the slope is at least 1, two recorded times never have the same image, and
///   `inverse(apply(t)) = t`.
/// * Where the slope is less than 1, at most two recorded times, which are neighbours, have the
///   same image. `inverse(apply(t))` is the earlier one of them: `t` or `t − 1` ns.
/// * `apply(inverse(time)) ≥ time`, and each recorded time before `inverse(time)` has an image
///   before `time`. A window that starts at `inverse(time)` therefore loses no event.
///
/// These hold for all results in the range of [`Timestamp`]. Results out of range are
/// limited to it by [`apply`](Self::apply) and [`inverse`](Self::inverse), and refused by
/// [`checked_apply`](Self::checked_apply).
///
/// Two transforms are equal if their parts are. Transforms of different origins may still be
/// the same map.
///
/// ```
/// use ltt_read::{ClockTransform, Timestamp};
///
/// let at = Timestamp::from_ns;
/// // A clock that is 5 s late when it shows 100 s, and runs slow by 40 ppm.
/// let (origin, origin_time) = (at(100_000_000_000), at(105_000_000_000));
/// let transform = ClockTransform::from_ratio(origin, origin_time, 1_000_040, 1_000_000)?;
/// assert_eq!(transform.apply(at(100_000_000_000)), at(105_000_000_000));
/// assert_eq!(transform.apply(at(101_000_000_000)), at(106_000_040_000));
/// assert_eq!(transform.inverse(at(106_000_040_000)), at(101_000_000_000));
/// # Ok::<(), ltt_read::ClockTransformError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockTransform {
    /// A recorded time, in ns.
    origin: i64,
    /// The image of the origin, in ns.
    origin_time: i64,
    /// The slope in units of 2⁻⁶².
    slope: u64,
}

/// An error from creating a [`ClockTransform`].
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockTransformError {
    /// The slope is not from ½ to 2.
    #[error("the slope of a clock transform is not from 1/2 to 2")]
    Slope,
    /// The image of the origin is out of the range of [`Timestamp`].
    #[error("the origin of a clock transform has an image out of range")]
    Origin,
}

crate::debug_as_chain!(ClockTransformError);

impl ClockTransform {
    /// The slope 1 in units of [`slope`](Self::slope).
    pub const ONE: u64 = 1 << FRACTION;

    /// The transform that maps each time to itself.
    pub const IDENTITY: ClockTransform =
        ClockTransform { origin: 0, origin_time: 0, slope: Self::ONE };

    /// Creates a transform from its exact parts: a recorded time, its image, and the slope in
    /// units of 2⁻⁶² ([`ONE`](Self::ONE) is the slope 1).
    ///
    /// # Errors
    ///
    /// [`ClockTransformError::Slope`] if the slope is not from ½ to 2.
    pub const fn new(
        origin: Timestamp,
        origin_time: Timestamp,
        slope: u64,
    ) -> Result<Self, ClockTransformError> {
        if slope < Self::ONE / 2 || slope > Self::ONE * 2 {
            return Err(ClockTransformError::Slope);
        }
        let (origin, origin_time) = (origin.as_ns(), origin_time.as_ns());
        Ok(ClockTransform { origin, origin_time, slope })
    }

    /// Creates a transform from a recorded time, its image, and the slope as a ratio, which is
    /// rounded to the nearest multiple of 2⁻⁶².
    ///
    /// # Errors
    ///
    /// [`ClockTransformError::Slope`] if the ratio is not from ½ to 2, or if its denominator is
    /// 0.
    pub const fn from_ratio(
        origin: Timestamp,
        origin_time: Timestamp,
        numerator: u64,
        denominator: u64,
    ) -> Result<Self, ClockTransformError> {
        if denominator == 0 || numerator.div_ceil(2) > denominator {
            return Err(ClockTransformError::Slope);
        }
        let scaled = (numerator as u128) << FRACTION;
        let slope = (scaled + denominator as u128 / 2) / denominator as u128;
        Self::new(origin, origin_time, slope as u64)
    }

    /// Creates a transform that adds an offset in ns.
    pub const fn from_offset(ns: i64) -> Self {
        ClockTransform { origin: 0, origin_time: ns, slope: Self::ONE }
    }

    /// Returns the origin: a recorded time whose image is exactly
    /// [`origin_time`](Self::origin_time).
    pub const fn origin(&self) -> Timestamp {
        Timestamp::from_ns(self.origin)
    }

    /// Returns the image of the origin.
    pub const fn origin_time(&self) -> Timestamp {
        Timestamp::from_ns(self.origin_time)
    }

    /// Returns the slope in units of 2⁻⁶².
    pub const fn slope(&self) -> u64 {
        self.slope
    }

    /// Returns the slope as a number, rounded to the precision of an `f64`.
    pub const fn slope_f64(&self) -> f64 {
        self.slope as f64 / Self::ONE as f64
    }

    /// Returns `true` if the transform maps each time to itself.
    pub const fn is_identity(&self) -> bool {
        self.slope == Self::ONE && self.origin == self.origin_time
    }

    /// Returns the image of a recorded time, at least [`Timestamp::MIN`] and at most
    /// [`Timestamp::MAX`].
    #[inline]
    pub const fn apply(&self, recorded: Timestamp) -> Timestamp {
        Timestamp::from_ns(saturate(self.image(recorded)))
    }

    /// Returns the image of a recorded time; `None` if it is out of range.
    #[inline]
    pub const fn checked_apply(&self, recorded: Timestamp) -> Option<Timestamp> {
        let image = self.image(recorded);
        if image == image as i64 as i128 { Some(Timestamp::from_ns(image as i64)) } else { None }
    }

    /// Returns the earliest recorded time whose image is not before a time. If that is out of
    /// range, the result is limited to the range: [`Timestamp::MIN`] if all recorded times have
    /// such an image, and [`Timestamp::MAX`] if none has.
    ///
    /// A window from `begin` to before `end` contains the recorded times from
    /// `inverse(begin)` to before `inverse(end)`.
    pub const fn inverse(&self, time: Timestamp) -> Timestamp {
        Timestamp::from_ns(saturate(self.preimage(time)))
    }

    /// Returns the earliest recorded time in ns whose image is not before a time, like
    /// [`inverse`](Self::inverse), but 1 ns after the range if no recorded time has such an image.
    pub(crate) const fn preimage(&self, time: Timestamp) -> i128 {
        // Images before the range are moved to its start by `apply`.
        if time.as_ns() == i64::MIN {
            return i64::MIN as i128;
        }
        // The least distance whose product with the slope is at least the distance of `time`.
        // Distances take 65 bits with their sign, so the shift stays within 127 bits.
        let distance = (time.as_ns() as i128 - self.origin_time as i128) << FRACTION;
        let slope = self.slope as i128;
        let quotient = distance.div_euclid(slope);
        let round_up = (distance.rem_euclid(slope) != 0) as i128;
        let recorded = self.origin as i128 + quotient + round_up;
        if recorded > i64::MAX as i128 { i64::MAX as i128 + 1 } else { recorded }
    }

    /// Returns the transform in the other direction, with the reciprocal slope rounded to the
    /// nearest multiple of 2⁻⁶².
    ///
    /// It differs from [`inverse`](Self::inverse) by at most 2 ns within 10 years of the
    /// origin, since it rounds down.
    #[must_use]
    pub const fn inverted(&self) -> Self {
        let slope = ((1_u128 << (2 * FRACTION)) + self.slope as u128 / 2) / self.slope as u128;
        ClockTransform { origin: self.origin_time, origin_time: self.origin, slope: slope as u64 }
    }

    /// Returns the transform that applies this one first and `next` to its result.
    ///
    /// Origins are mapped exactly, up to the rounding down, and the product of the slopes is
    /// rounded to the nearest multiple of 2⁻⁶². The result therefore differs from applying both
    /// by at most 2 ns within 10 years of the origin.
    ///
    /// # Errors
    ///
    /// [`ClockTransformError::Slope`] if the product of the slopes is not from ½ to 2, and
    /// [`ClockTransformError::Origin`] if the image of the origin is out of range.
    pub const fn then(&self, next: &ClockTransform) -> Result<Self, ClockTransformError> {
        let product = self.slope as u128 * next.slope as u128;
        // At most 4, which is 2⁶⁴ units, and no longer fits.
        let slope = (product + (1 << (FRACTION - 1))) >> FRACTION;
        if slope > Self::ONE as u128 * 2 {
            return Err(ClockTransformError::Slope);
        }
        match next.checked_apply(self.origin_time()) {
            Some(origin_time) => Self::new(self.origin(), origin_time, slope as u64),
            None => Err(ClockTransformError::Origin),
        }
    }

    /// Returns the image in ns, which may be out of range.
    #[inline]
    const fn image(&self, recorded: Timestamp) -> i128 {
        // The distance is at most 2⁶⁴ − 1 and the slope at most 2⁶³: the product has 127 bits
        // and a sign. The shift rounds down.
        let distance = recorded.as_ns() as i128 - self.origin as i128;
        self.origin_time as i128 + ((distance * self.slope as i128) >> FRACTION)
    }
}

impl Default for ClockTransform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// Returns the nearest number in the range of `i64`.
const fn saturate(ns: i128) -> i64 {
    if ns > i64::MAX as i128 {
        i64::MAX
    } else if ns < i64::MIN as i128 {
        i64::MIN
    } else {
        ns as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: u64 = ClockTransform::ONE;
    const TEN_YEARS: i64 = 10 * 366 * 86_400 * 1_000_000_000;

    fn at(ns: i64) -> Timestamp {
        Timestamp::from_ns(ns)
    }

    fn slopes() -> impl Strategy<Value = u64> {
        let near = (ONE - ONE / 1000)..=(ONE + ONE / 1000);
        prop_oneof![near, ONE / 2..=2 * ONE, Just(ONE / 2), Just(ONE), Just(2 * ONE)]
    }

    fn times() -> impl Strategy<Value = i64> {
        let edges = prop_oneof![Just(i64::MIN), Just(-1), Just(0), Just(i64::MAX)];
        prop_oneof![any::<i64>(), -1000..1000_i64, edges]
    }

    fn transforms() -> impl Strategy<Value = ClockTransform> {
        (times(), times(), slopes()).prop_map(|(origin, time, slope)| {
            ClockTransform::new(at(origin), at(time), slope).expect("a slope in range")
        })
    }

    /// Generates transforms between clocks of this century that differ by at most a day.
    fn usual() -> impl Strategy<Value = ClockTransform> {
        let day = 86_400_000_000_000_i64;
        let origins = 1_000_000_000_000_000_000..2_000_000_000_000_000_000_i64;
        let near = (ONE - ONE / 1000)..=(ONE + ONE / 1000);
        (origins, -day..=day, near).prop_map(|(origin, offset, slope)| {
            ClockTransform::new(at(origin), at(origin + offset), slope).expect("near 1")
        })
    }

    #[test]
    fn slopes_out_of_range_are_refused() {
        let new = |slope| ClockTransform::new(at(0), at(0), slope).err();
        assert_eq!((new(ONE / 2), new(2 * ONE)), (None, None));
        for slope in [0, 1, ONE / 2 - 1, 2 * ONE + 1, u64::MAX] {
            assert_eq!(new(slope), Some(ClockTransformError::Slope));
        }
        let ratio = |n, d| ClockTransform::from_ratio(at(0), at(0), n, d).map(|t| t.slope());
        assert_eq!((ratio(1, 2), ratio(2, 1), ratio(7, 7)), (Ok(ONE / 2), Ok(2 * ONE), Ok(ONE)));
        assert_eq!(ratio(u64::MAX, u64::MAX), Ok(ONE));
        for (n, d) in [(1, 0), (0, 1), (0, 0), (u64::MAX, 1), (1, u64::MAX), (5, 2), (1, 3)] {
            assert_eq!(ratio(n, d), Err(ClockTransformError::Slope), "{n}/{d}");
        }
    }

    #[test]
    fn identities_are_detected() {
        assert!(ClockTransform::IDENTITY.is_identity() && ClockTransform::default().is_identity());
        assert!(ClockTransform::new(at(5), at(5), ONE).unwrap().is_identity());
        assert!(!ClockTransform::from_offset(1).is_identity());
        assert!(!ClockTransform::new(at(5), at(5), ONE + 1).unwrap().is_identity());
    }

    proptest! {
        #[test]
        fn identities_change_nothing(origin in times(), time in times()) {
            let same = ClockTransform::new(at(origin), at(origin), ONE).unwrap();
            prop_assert_eq!(same.checked_apply(at(time)), Some(at(time)));
            prop_assert_eq!(same.inverse(at(time)), at(time));
            prop_assert_eq!(same.inverted(), same);
        }

        /// Half of the range of times and one ns have images in order.
        #[test]
        fn transforms_are_monotone(transform in transforms(), a in times(), b in times()) {
            let (a, b) = (a.min(b), a.max(b));
            prop_assert!(transform.apply(at(a)) <= transform.apply(at(b)));
            prop_assert!(transform.inverse(at(a)) <= transform.inverse(at(b)));
            if let (Some(next), Some(image)) = (a.checked_add(1), transform.checked_apply(at(a))) {
                let step = transform.apply(at(next)).signed_ns_since(image);
                let one = transform.slope() >= ONE && image < Timestamp::MAX;
                prop_assert!((i128::from(one)..=2).contains(&step));
            }
        }

        #[test]
        fn saturation_is_that_of_the_exact_image(transform in transforms(), a in times()) {
            let exact = transform.image(at(a));
            prop_assert_eq!(i128::from(transform.apply(at(a)).as_ns()),
                exact.clamp(i64::MIN.into(), i64::MAX.into()));
            prop_assert_eq!(transform.checked_apply(at(a)).map(|t| i128::from(t.as_ns())),
                i64::try_from(exact).ok().map(i128::from));
        }

        #[test]
        fn inverses_are_the_earliest_recorded_times(transform in transforms(), t in times()) {
            let recorded = transform.inverse(at(t));
            let reaches = transform.apply(recorded) >= at(t);
            prop_assert!(reaches || recorded == Timestamp::MAX);
            if let Some(before) = recorded.as_ns().checked_sub(1) {
                prop_assert!(transform.apply(at(before)) < at(t));
            }
        }

        /// All slopes, over the whole range.
        #[test]
        fn inverses_of_images_are_the_least_preimages(transform in transforms(), t in times()) {
            if let Some(image) = transform.checked_apply(at(t)) {
                let back = transform.inverse(image);
                let lost = i128::from(t) - i128::from(back.as_ns());
                prop_assert!((0..=1).contains(&lost) || image == Timestamp::MIN);
                prop_assert_eq!(transform.apply(back), image);
                if transform.slope() >= ONE && image != Timestamp::MIN {
                    prop_assert_eq!(back, at(t));
                }
            }
        }

        /// Over ± 10 years, with a difference of slopes of at most 1000 ppm.
        #[test]
        fn times_are_mapped_back_to_the_nanosecond(
            transform in usual(),
            distance in -TEN_YEARS..=TEN_YEARS,
        ) {
            let recorded = transform.origin().as_ns() + distance;
            let back = transform.inverse(transform.apply(at(recorded))).as_ns();
            if transform.slope() >= ONE {
                prop_assert_eq!(back, recorded);
            } else {
                prop_assert!((recorded - 1..=recorded).contains(&back));
                prop_assert_eq!(transform.apply(at(back)), transform.apply(at(recorded)));
            }
        }

        #[test]
        fn inverted_transforms_agree_with_inverses(
            transform in usual(),
            distance in -TEN_YEARS..=TEN_YEARS,
        ) {
            let time = at(transform.origin_time().as_ns() + distance);
            let difference = transform.inverted().apply(time)
                .signed_ns_since(transform.inverse(time));
            prop_assert!((-2..=1).contains(&difference), "{}", difference);
        }

        #[test]
        fn compositions_agree_with_both_transforms(
            first in usual(),
            next in usual(),
            distance in -TEN_YEARS / 2..=TEN_YEARS / 2,
        ) {
            let time = at(first.origin().as_ns() + distance);
            let both = first.then(&next).unwrap();
            let difference = both.apply(time).signed_ns_since(next.apply(first.apply(time)));
            prop_assert!((-2..=2).contains(&difference), "{}", difference);
        }

        #[test]
        fn compositions_never_panic(first in transforms(), next in transforms(), t in times()) {
            if let Ok(both) = first.then(&next) {
                prop_assert_eq!(both.apply(first.origin()), next.apply(first.origin_time()));
                both.apply(at(t));
            }
            first.inverted().apply(at(t));
        }
    }
}
