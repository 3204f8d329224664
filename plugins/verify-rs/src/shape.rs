//! What a request may look like, and the first thing in one that is otherwise [W-4 to W-7].
//!
//! serde alone would deny the same requests (see `request.rs`), but in the order of the document
//! and in words of its own; here the order is the one of the protocol and the words are those that
//! every verify plugin has in common (plugins/testdata/README.md).

use std::collections::HashSet;

use serde_json::value::RawValue;

use crate::PROTOCOL_VERSION;
use crate::document::{Node, Pairs, Text};
use crate::refusal::{Refusal, SHOWN_CHARS, WHOLE};

/// What may stand at one place.
pub(crate) enum Kind {
    Flag,
    Text,
    /// An unsigned 32-bit integer, which is written with digits only [W-6].
    U32,
    /// The protocol version, when it is the one this plugin serves [W-10].
    Version,
    /// An absolute path: a relative one would lead into this plugin's directory.
    Directory,
    /// One word of a closed vocabulary.
    Word(&'static [&'static str]),
    /// A list of strings.
    Texts,
    Table(&'static [Key]),
}

/// A key of a table: null is the same as absent, which only an optional key may be [W-5].
pub(crate) struct Key {
    name: &'static str,
    kind: Kind,
    optional: bool,
}

impl Key {
    /// A key that has to be there.
    pub(crate) const fn required(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            optional: false,
        }
    }

    /// A key that may be absent.
    pub(crate) const fn optional(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            optional: true,
        }
    }
}

/// Returns whether `raw` is of this kind, or why it is not.
pub(crate) fn check(kind: &Kind, raw: &RawValue, place: &str) -> Result<(), Refusal> {
    match (kind, Node::of(raw, place)?) {
        (Kind::Flag, Node::Flag) => Ok(()),
        (Kind::Text, Node::Text(text)) => sound(&text, place).map(drop),
        (Kind::U32, Node::Integer(digits)) => number(digits, place).map(drop),
        (Kind::Version, Node::Integer(digits)) => version(number(digits, place)?, place),
        (Kind::Directory, Node::Text(text)) => directory(&text, place),
        (Kind::Word(words), Node::Text(text)) => word(words, &text, place),
        (Kind::Texts, Node::List(items)) => texts(&items, place),
        (Kind::Table(keys), Node::Table(pairs)) => table(keys, &pairs, place),
        (kind, node) => {
            let (due, got) = (expected(kind), node.name());
            Err(Refusal::at(place, format!("expected {due}, got {got}")))
        }
    }
}

/// Returns what a refusal calls the type that is due.
fn expected(kind: &Kind) -> &'static str {
    match kind {
        Kind::Flag => "true or false",
        Kind::Text | Kind::Directory | Kind::Word(_) => "a string",
        Kind::U32 | Kind::Version => "an integer",
        Kind::Texts => "a list",
        Kind::Table(_) => "a table",
    }
}

fn sound<'a>(text: &'a Text, place: &str) -> Result<&'a str, Refusal> {
    text.sound()
        .ok_or_else(|| Refusal::at(place, "holds a lone surrogate"))
}

fn number(digits: &str, place: &str) -> Result<u32, Refusal> {
    let number = if digits.starts_with('-') {
        None
    } else {
        digits.parse().ok()
    };
    number.ok_or_else(|| {
        let shown: String = digits.chars().take(SHOWN_CHARS).collect();
        Refusal::at(place, format!("expected 0 to {}, got {shown}", u32::MAX))
    })
}

fn version(number: u32, place: &str) -> Result<(), Refusal> {
    if number == PROTOCOL_VERSION {
        return Ok(());
    }
    let what = format!("does not serve {number}, only {PROTOCOL_VERSION}");
    Err(Refusal::at(place, what))
}

fn directory(text: &Text, place: &str) -> Result<(), Refusal> {
    if sound(text, place)?.starts_with('/') {
        return Ok(());
    }
    let what = format!("expected an absolute path, got {}", text.quoted());
    Err(Refusal::at(place, what))
}

fn word(words: &[&str], text: &Text, place: &str) -> Result<(), Refusal> {
    if text.sound().is_some_and(|given| words.contains(&given)) {
        return Ok(());
    }
    let what = format!("expected {}, got {}", words.join(" or "), text.quoted());
    Err(Refusal::at(place, what))
}

fn texts(items: &[&RawValue], place: &str) -> Result<(), Refusal> {
    let mut places = (0..).map(|at| format!("{place}[{at}]"));
    items
        .iter()
        .zip(&mut places)
        .try_for_each(|(item, place)| check(&Kind::Text, item, &place))
}

/// Checks a table's keys: one that stands twice, then the known ones in the order of the protocol
/// with all that is inside, so that the point comes before the body and the version before the
/// rest of it, then unknown ones, then missing ones.
fn table(keys: &[Key], Pairs(pairs): &Pairs, place: &str) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    if let Some((name, _)) = pairs.iter().find(|(name, _)| !seen.insert(name)) {
        return Err(Refusal::at(
            place,
            format!("the key {} stands twice", name.quoted()),
        ));
    }
    let inside = if place == WHOLE {
        String::new()
    } else {
        format!("{place}.")
    };
    let given = |key: &Key| {
        pairs
            .iter()
            .find(|(name, raw)| name.is(key.name) && raw.get() != "null")
    };
    for key in keys {
        if let Some((_, raw)) = given(key) {
            check(&key.kind, raw, &format!("{inside}{}", key.name))?;
        }
    }
    if let Some((name, _)) = pairs
        .iter()
        .find(|(name, _)| !keys.iter().any(|key| name.is(key.name)))
    {
        return Err(Refusal::at(place, format!("unknown key {}", name.quoted())));
    }
    match keys
        .iter()
        .find(|key| !key.optional && given(key).is_none())
    {
        Some(key) => Err(Refusal::at(&format!("{inside}{}", key.name), "missing")),
        None => Ok(()),
    }
}
