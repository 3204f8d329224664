//! One strict JSON document and a look at each of its values as they are written [W-1, W-6, W-7].
//!
//! serde_json decides what is JSON. A value stays the text it was until it is looked at, so that
//! a key given twice, a `-0` and a lone surrogate can still be seen.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::refusal::{Refusal, SHOWN_CHARS, WHOLE};

/// Containers inside one another [W-7].
const DEEPEST: usize = 64;

const WHITE: [u8; 4] = *b" \t\r\n";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the one JSON document in `data`.
pub(crate) fn parse(data: &[u8]) -> Result<&RawValue, Refusal> {
    if data.iter().all(|byte| WHITE.contains(byte)) {
        return Err(Refusal::whole("nothing came"));
    }
    if data.starts_with(BYTE_ORDER_MARK) {
        return Err(Refusal::whole("starts with a byte-order mark"));
    }
    let text = std::str::from_utf8(data).map_err(|_| Refusal::whole("not UTF-8"))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let tree = <&RawValue>::deserialize(&mut reader).map_err(|_| not_json(WHOLE))?;
    if reader.end().is_err() {
        return Err(Refusal::whole("goes on after its document"));
    }
    if depth(tree.get()) > DEEPEST {
        return Err(Refusal::whole(format!("nested deeper than {DEEPEST}")));
    }
    Ok(tree)
}

fn not_json(place: &str) -> Refusal {
    Refusal::at(place, "not JSON")
}

/// Returns how many containers are inside one another at most; the outermost counts as 1.
fn depth(document: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    let mut quoted = false;
    let mut bytes = document.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' => drop(bytes.next()), // stands inside a string only
            b'[' | b'{' if !quoted => now += 1,
            b']' | b'}' if !quoted => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most
}

/// What is written at one place of the document.
pub(crate) enum Node<'a> {
    Null,
    Flag,
    /// Its digits, with a sign if there is one.
    Integer(&'a str),
    /// A number with a fraction or an exponent, whatever its value [W-6].
    Fraction,
    Text(Text),
    List(Vec<&'a RawValue>),
    Table(Pairs<'a>),
}

impl<'a> Node<'a> {
    /// Looks at what is written at `place`.
    pub(crate) fn of(raw: &'a RawValue, place: &str) -> Result<Self, Refusal> {
        let text = raw.get();
        let fault = |_| not_json(place); // `parse` has seen to it that there is none
        Ok(match text.as_bytes().first() {
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Flag,
            Some(b'"') => Self::Text(serde_json::from_str(text).map_err(fault)?),
            Some(b'[') => Self::List(serde_json::from_str(text).map_err(fault)?),
            Some(b'{') => Self::Table(serde_json::from_str(text).map_err(fault)?),
            _ if text.contains(['.', 'e', 'E']) => Self::Fraction,
            _ => Self::Integer(text),
        })
    }

    /// Returns what a refusal calls a value of this kind.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag => "true or false",
            Self::Integer(_) => "an integer",
            Self::Fraction => "a fraction",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// The pairs of a table in the order of the document, a key given twice included.
pub(crate) struct Pairs<'a>(pub(crate) Vec<(Text, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Gather;

        impl<'de> Visitor<'de> for Gather {
            type Value = Pairs<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a table")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut table: M) -> Result<Self::Value, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = table.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        input.deserialize_map(Gather)
    }
}

/// A string of the document: UTF-8, but that a lone surrogate is coded as three bytes too.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Text(Vec<u8>);

impl Text {
    /// Returns the string, unless it holds a lone surrogate.
    pub(crate) fn sound(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns whether it is `word`.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.0 == word.as_bytes()
    }

    /// Returns the head of it as ASCII on one line, so that it cannot forge another.
    pub(crate) fn quoted(&self) -> String {
        let inside: String = self.points().take(SHOWN_CHARS).map(escaped).collect();
        format!("\"{inside}\"")
    }

    /// Returns the code points, surrogates that stand alone included.
    fn points(&self) -> impl Iterator<Item = u32> {
        let mut bytes = self.0.iter().map(|byte| u32::from(*byte));
        std::iter::from_fn(move || {
            let first = bytes.next()?;
            let (bits, more) = match first {
                0..0x80 => (first, 0),
                0x80..0xe0 => (first & 0x1f, 1),
                0xe0..0xf0 => (first & 0x0f, 2),
                _ => (first & 0x07, 3),
            };
            Some(
                bytes
                    .by_ref()
                    .take(more)
                    .fold(bits, |bits, byte| bits << 6 | byte & 0x3f),
            )
        })
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Text;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text(bytes.to_vec()))
            }
        }

        input.deserialize_bytes(Bytes) // a string would have no lone surrogate
    }
}

/// Returns a code point as it stands in a JSON string of ASCII: in UTF-16 outside of it.
fn escaped(point: u32) -> String {
    match char::from_u32(point) {
        Some('"') => "\\\"".into(),
        Some('\\') => "\\\\".into(),
        Some('\n') => "\\n".into(),
        Some('\r') => "\\r".into(),
        Some('\t') => "\\t".into(),
        Some('\u{8}') => "\\b".into(),
        Some('\u{c}') => "\\f".into(),
        Some(char @ ' '..='~') => char.into(),
        Some(char) => char
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|u| format!("\\u{u:04x}"))
            .collect(),
        None => format!("\\u{point:04x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        parse(text.as_bytes())
            .err()
            .map_or_else(String::new, |refusal| refusal.to_string())
    }

    fn quoted(text: &str) -> String {
        let Node::Text(text) = Node::of(parse(text.as_bytes()).unwrap(), WHOLE).unwrap() else {
            panic!("not a string");
        };
        text.quoted()
    }

    #[test]
    fn the_64th_container_is_the_last_one() {
        // [W-7]
        for (deep, refusal) in [(64, ""), (65, "the request: nested deeper than 64")] {
            assert_eq!(
                said(&format!("{}{}", "[".repeat(deep), "]".repeat(deep))),
                refusal
            );
            let tables = format!("{}1{}", r#"{"a":"#.repeat(deep), "}".repeat(deep));
            assert_eq!(said(&tables), refusal);
        }
    }

    #[test]
    fn a_bracket_inside_a_string_is_no_container() {
        assert_eq!(said(&format!(r#"["\"{}", "\\"]"#, "[".repeat(100))), "");
    }

    #[test]
    fn a_document_may_stand_in_white_space_and_nothing_else() {
        assert_eq!(said(" \t\r\n[] \n"), "");
        assert_eq!(said("[],"), "the request: goes on after its document");
        assert_eq!(said("\u{a0}[]"), "the request: not JSON");
        assert_eq!(
            said("[] \u{feff}"),
            "the request: goes on after its document"
        );
    }

    #[test]
    fn a_number_of_any_size_is_syntax() {
        // [W-6, W-7]: what it is worth is the business of its place
        assert_eq!(said("[1e999, -0, 123456789012345678901234567890]"), "");
        assert_eq!(said("[01]"), "the request: not JSON");
        assert_eq!(said("[+1]"), "the request: not JSON");
    }

    #[test]
    fn a_quoted_value_is_ascii_and_40_characters_long() {
        assert_eq!(
            quoted(r#""a\"\\\/\b\f\n\r\t\u0000~""#),
            r#""a\"\\/\b\f\n\r\t\u0000~""#
        );
        assert_eq!(
            quoted("\"\u{7f}é鍵🙂\""),
            r#""\u007f\u00e9\u9375\ud83d\ude42""#
        );
        assert_eq!(
            quoted(r#""\ud83d\ud83d\ude42\ude42""#),
            r#""\ud83d\ud83d\ude42\ude42""#
        );
        assert_eq!(quoted(&format!("\"{}\"", "é".repeat(41))).len(), 2 + 6 * 40);
    }
}
