//! Shapes: sequences of fields that visitors are called for by straight-line code.
//!
//! A branch for each field is hard to predict if the types of successive events are. With a shape, an
//! event takes one such branch. The shapes are those of most events of the Linux kernel and of its
//! system calls, and of the contexts that LTTng adds; all other events are visited field by field.

use super::cue::{Cue, CueKind};

/// Passes all shapes to a macro, each with the kinds of its fields: `u` is an unsigned integer, `i` a
/// signed one of 32 bits, `s` another signed one, and `t` a text of 16 bytes.
macro_rules! for_each_shape {
    ($then:ident) => {
        $then! {
            U [u], Uu [u u], Uuu [u u u], Uuuu [u u u u], Uuuuu [u u u u u], Uuuuuu [u u u u u u],
            I [i], Ii [i i], Iii [i i i], Iiii [i i i i],
            Iu [i u], Ui [u i], Uui [u u i], Uuuui [u u u u i], Uiuuuu [u i u u u u],
            S [s], Su [s u], Suu [s u u],
            T [t], Ti [t i], Tii [t i i], Tiii [t i i i], Tiiii [t i i i i],
            Tiuu [t i u u], Tuu [t u u], Iit [i i t],
            Tiistii [t i i s t i i], Tiiutii [t i i u t i i],
        }
    };
}
pub(crate) use for_each_shape;

macro_rules! define {
    ($($name:ident [$($kind:ident)*],)*) => {
        /// The shape of a structure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Shape {
            /// None of the shapes.
            Other,
            $($name,)*
        }

        impl Shape {
            /// Returns the shape of a structure, given the cues of its members. All fields of a shape
            /// have the base of the first one.
            pub(crate) fn of(members: &[Cue]) -> Shape {
                let Some(kinds) = members.iter().map(kind).collect::<Option<String>>() else {
                    return Shape::Other;
                };
                match &*kinds {
                    $(concat!($(stringify!($kind)),*) => Shape::$name,)*
                    _ => Shape::Other,
                }
            }
        }
    };
}
for_each_shape!(define);

/// Returns the letter of the kind of a field; `None` for cues that are in no shape.
fn kind(cue: &Cue) -> Option<char> {
    use CueKind::{Int, Int2, Int3, Int4, Sint, Text16, Uint, Uint2, Uint3, Uint4};
    Some(match cue.kind {
        Uint | Uint2 | Uint3 | Uint4 => 'u',
        Int | Int2 | Int3 | Int4 => 'i',
        Sint => 's',
        Text16 => 't',
        _ => return None,
    })
}
