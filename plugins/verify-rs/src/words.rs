//! The few questions about words that the runner table asks of a text.

/// Returns whether `char` is a part of a word.
pub(crate) fn is_word(char: char) -> bool {
    char == '_' || char.is_alphanumeric()
}

/// Returns whether `char` is white space; the four separators of ASCII are, as they are to Python.
pub(crate) fn is_white(char: char) -> bool {
    char.is_whitespace() || ('\x1c'..='\x1f').contains(&char)
}

/// The zeros of all scripts that have digits of their own, as Unicode 14 has them; the other nine
/// follow each.
const ZEROS: [char; 66] = [
    '\u{30}',
    '\u{660}',
    '\u{6f0}',
    '\u{7c0}',
    '\u{966}',
    '\u{9e6}',
    '\u{a66}',
    '\u{ae6}',
    '\u{b66}',
    '\u{be6}',
    '\u{c66}',
    '\u{ce6}',
    '\u{d66}',
    '\u{de6}',
    '\u{e50}',
    '\u{ed0}',
    '\u{f20}',
    '\u{1040}',
    '\u{1090}',
    '\u{17e0}',
    '\u{1810}',
    '\u{1946}',
    '\u{19d0}',
    '\u{1a80}',
    '\u{1a90}',
    '\u{1b50}',
    '\u{1bb0}',
    '\u{1c40}',
    '\u{1c50}',
    '\u{a620}',
    '\u{a8d0}',
    '\u{a900}',
    '\u{a9d0}',
    '\u{a9f0}',
    '\u{aa50}',
    '\u{abf0}',
    '\u{ff10}',
    '\u{104a0}',
    '\u{10d30}',
    '\u{11066}',
    '\u{110f0}',
    '\u{11136}',
    '\u{111d0}',
    '\u{112f0}',
    '\u{11450}',
    '\u{114d0}',
    '\u{11650}',
    '\u{116c0}',
    '\u{11730}',
    '\u{118e0}',
    '\u{11950}',
    '\u{11c50}',
    '\u{11d50}',
    '\u{11da0}',
    '\u{16a60}',
    '\u{16ac0}',
    '\u{16b50}',
    '\u{1d7ce}',
    '\u{1d7d8}',
    '\u{1d7e2}',
    '\u{1d7ec}',
    '\u{1d7f6}',
    '\u{1e140}',
    '\u{1e2f0}',
    '\u{1e950}',
    '\u{1fbf0}',
];

/// Returns whether `char` is a decimal digit, of whatever script, as it is to Python.
pub(crate) fn is_digit(char: char) -> bool {
    let follows = |zero: &char| u32::from(char).wrapping_sub(u32::from(*zero)) < 10;
    char.is_ascii_digit() || (!char.is_ascii() && ZEROS.iter().any(follows))
}

/// Returns `text` without the digits it starts with, or none when it does not.
pub(crate) fn after_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(is_digit);
    (rest.len() < text.len()).then_some(rest)
}

/// Returns what comes before and after each `sought` in `text`, those that overlap included when
/// `sought` is one character.
pub(crate) fn around<'a>(
    text: &'a str,
    sought: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    text.match_indices(sought).filter_map(move |(at, _)| {
        let (before, found) = text.split_at_checked(at)?;
        Some((before, found.strip_prefix(sought)?))
    })
}

/// Returns whether a word may start after `before`.
pub(crate) fn starts_word(before: &str) -> bool {
    !before.ends_with(is_word)
}

/// Returns whether a word may end before `after`.
pub(crate) fn ends_word(after: &str) -> bool {
    !after.starts_with(is_word)
}

/// Returns whether `word` stands in `text` as a word of its own.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    around(text, word).any(|(before, after)| starts_word(before) && ends_word(after))
}

/// Returns the first line of `text`, without its line break.
pub(crate) fn first_line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(line, _)| line)
}

/// Returns `text` without the escape sequences that colour it in a terminal.
pub(crate) fn plain(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut clean: String = pieces.next().unwrap_or_default().into();
    for piece in pieces {
        match sequence_end(piece) {
            Some(rest) => clean.push_str(rest),
            None => clean.extend(["\x1b[", piece]),
        }
    }
    clean
}

/// Returns what follows the parameters and the final character of a sequence, if it has that.
fn sequence_end(piece: &str) -> Option<&str> {
    let rest = piece.trim_start_matches(|char| ('0'..='?').contains(&char));
    let rest = rest.trim_start_matches(|char| (' '..='/').contains(&char));
    rest.strip_prefix(|char| ('@'..='~').contains(&char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_ends_where_no_letter_digit_or_line_below_follows() {
        for (text, stands) in [
            ("failed", true),
            ("1 failed,", true),
            ("xfailed", false),
            ("failed_", false),
            ("failedé", false),
            ("xfailed failed", true),
        ] {
            assert_eq!(has_word(text, "failed"), stands, "{text}");
        }
    }

    #[test]
    fn a_digit_is_one_of_ten_in_any_script() {
        assert!("09٠٩۰߉０９𝟎𝟿".chars().all(is_digit));
        assert!(!"/:²½Ⅷ①٪a一".chars().any(is_digit));
    }

    #[test]
    fn a_sequence_without_its_end_is_text() {
        for (text, clean) in [
            ("\x1b[33m1 \x1b[1mskipped\x1b[0m", "1 skipped"),
            ("\x1b[38;5;1 qa", "a"),
            ("\x1b[", "\x1b["),
            ("\x1b[12", "\x1b[12"),
            ("\x1b[é\x1b[m", "\x1b[é"),
            ("\x1b[\x1b[m", "\x1b["),
            ("[m\x1bm", "[m\x1bm"),
        ] {
            assert_eq!(plain(text), clean, "{text:?}");
        }
    }
}
