//! Shapes: sequences of fields that visitors are called for by straight-line code.
//!
//! A branch for each field is hard to predict if the types of successive events are. With a shape, an
//! event takes one such branch. The shapes are those of most events of the Linux kernel and of its
//! system calls, of the contexts that LTTng adds, and of messages and samples as applications record
//! them; all other events are visited field by field. Without shapes, a visit of every field takes up to
//! 22 % longer; with steps of at most one text and four integers each, up to 17 %.

use super::cue::{Cue, CueKind};

/// Passes all shapes to a macro, each with the kinds of its fields: `u` is an unsigned integer, `i` a
/// signed one of 32 bits, `s` another signed one, `f` a floating-point number of 64 bits, `t` a text of
/// 16 bytes, `z` a null-terminated one, `x` one whose length is recorded, and `n` a sequence of
/// numbers. `b` is no field: those after it have another base.
macro_rules! for_each_shape {
    ($then:ident) => {
        $then! {
            U [u], Uu [u u], Uuu [u u u], Uuuu [u u u u], Uuuuu [u u u u u], Uuuuuu [u u u u u u],
            I [i], Ii [i i], Iii [i i i], Iiii [i i i i],
            Iu [i u], Iuuu [i u u u], Iuuuui [i u u u u i], Ui [u i], Uui [u u i], Uuuiu [u u u i u],
            Uuuui [u u u u i], Uiuuuu [u i u u u u],
            S [s], Su [s u], Suu [s u u], Suuu [s u u u], Uus [u u s], Usu [u s u], Uussuu [u u s s u u],
            T [t], Ti [t i], Tii [t i i], Tiii [t i i i], Tiiii [t i i i i],
            Tiuu [t i u u], Tuu [t u u], Iit [i i t],
            Titi [t i t i], Tiistii [t i i s t i i], Tiiutii [t i i u t i i], Uuuuiut [u u u u i u t],
            Z [z], Iz [i z], Izi [i z b i], Iziu [i z b i u], Uiz [u i z], Uiuz [u i u z],
            Zi [z b i], Zffu [z b f f u], Ux [u x], Uun [u u n], Unux [u n b u x],
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
            /// Returns the shape of a structure, given the cues of its members.
            pub(crate) fn of(members: &[Cue]) -> Shape {
                let mut kinds = String::new();
                let mut rest = members;
                while let [cue, after @ ..] = rest && let Some(kind) = kind(cue) {
                    kinds.push(kind);
                    rest = if kind == 'n' { after.get(1..).unwrap_or(&[]) } else { after };
                }
                match &*kinds {
                    $(concat!($(stringify!($kind)),*) if rest.is_empty() => Shape::$name,)*
                    _ => Shape::Other,
                }
            }
        }
    };
}
for_each_shape!(define);

/// Returns the letter of the kind of a field; `None` for cues that are in no shape.
fn kind(cue: &Cue) -> Option<char> {
    use CueKind::{
        Base, F64, Int, Int2, Int3, Int4, Numbers, Sint, Text16, TextOf, Uint, Uint2, Uint3, Uint4,
        Utf8,
    };
    Some(match cue.kind {
        Uint | Uint2 | Uint3 | Uint4 => 'u',
        Int | Int2 | Int3 | Int4 => 'i',
        Sint => 's',
        F64 => 'f',
        Text16 => 't',
        Utf8 { .. } => 'z',
        TextOf { .. } => 'x',
        Numbers { .. } => 'n',
        Base => 'b',
        _ => return None,
    })
}
