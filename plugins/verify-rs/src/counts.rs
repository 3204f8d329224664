//! The lines in which runners count their tests, and what they count [G-23, G-24, Q-32].

use crate::words::{
    after_digits, around, ends_word, first_line, has_word, is_digit, is_white, starts_word,
};

/// Returns the pieces of `said` that `counted` finds: it is given the text from the start of a
/// line and returns how long the piece is that starts there. Pieces do not overlap.
pub(crate) fn pieces(said: &str, counted: fn(&str) -> Option<usize>) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = said;
    loop {
        if let Some((piece, after)) = counted(rest).and_then(|size| rest.split_at_checked(size)) {
            pieces.push(piece);
            rest = after;
            if piece.ends_with('\n') {
                continue;
            }
        }
        match rest.split_once('\n') {
            Some((_, after)) => rest = after,
            None => return pieces,
        }
    }
}

/// No runner of this name counts.
pub(crate) fn nowhere(_: &str) -> Option<usize> {
    None
}

/// The summary line of pytest, and all that follows it when something ended the run early: that is
/// what the code that did so wants read.
pub(crate) fn of_pytest(text: &str) -> Option<usize> {
    let line = first_line(text);
    let inside = line.trim_start_matches('=');
    let inside = inside.strip_prefix(' ').unwrap_or(inside);
    let none = inside.strip_prefix("no tests ran");
    let after = none.or_else(|| {
        after_digits(inside)?
            .strip_prefix(' ')?
            .strip_prefix(|char: char| char.is_ascii_lowercase())
    })?;
    if !around(after, " ").any(|(_, after)| is_time(after)) {
        return None;
    }
    let rest = text.strip_prefix(line)?;
    Some(if is_exit(rest) {
        text.len()
    } else {
        line.len()
    })
}

/// Returns whether this is the rest of `in 0.01s` or `in 0.01 seconds`.
fn is_time(text: &str) -> bool {
    let number = text.strip_prefix("in ").unwrap_or_default();
    let after = number.trim_start_matches(|char: char| char == '.' || is_digit(char));
    after.len() < number.len() && after.strip_prefix(' ').unwrap_or(after).starts_with('s')
}

/// Returns whether the next line says that something ended the run early.
fn is_exit(rest: &str) -> bool {
    let line = rest
        .strip_prefix("\n!")
        .unwrap_or_default()
        .trim_start_matches('!');
    let word = line
        .strip_prefix(' ')
        .unwrap_or_default()
        .split(is_white)
        .next();
    word.is_some_and(|word| word.contains("Exit:"))
}

/// Returns whether the summary of pytest counts a test that passed, and nothing else went wrong.
pub(crate) fn passed_by_pytest(piece: &str) -> bool {
    let wrong = ["failed", "error", "errors"]
        .iter()
        .any(|word| has_word(piece, word));
    let ended = around(piece, "Exit:").any(|(before, _)| starts_word(before));
    !wrong && !ended && passed(first_line(piece))
}

/// The closing lines of unittest: how many tests ran, an empty one, the result.
pub(crate) fn of_unittest(text: &str) -> Option<usize> {
    let rest = after_digits(text.strip_prefix("Ran ")?)?.strip_prefix(" test")?;
    let rest = rest
        .strip_prefix('s')
        .unwrap_or(rest)
        .strip_prefix(" in ")?;
    let result = rest.strip_prefix(first_line(rest))?.strip_prefix("\n\n")?;
    Some(text.len() - result.len() + first_line(result).len())
}

/// Returns whether unittest ran a test, and not all were skipped or expected to fail.
pub(crate) fn passed_by_unittest(piece: &str) -> bool {
    let Some(count) = piece
        .strip_prefix("Ran ")
        .and_then(|rest| rest.split(' ').next())
    else {
        return false;
    };
    let Some(after) = piece
        .split("\n\n")
        .nth(1)
        .and_then(|result| result.strip_prefix("OK"))
    else {
        return false;
    };
    let idle = |key: &str| has_word(after.strip_prefix(" (").unwrap_or_default(), key);
    let all = ["skipped", "failures"]
        .iter()
        .any(|key| idle(&format!("{key}={count}")));
    !count.starts_with('0') && ends_word(after) && !all
}

/// A line of cargo for one binary of tests.
pub(crate) fn of_cargo(text: &str) -> Option<usize> {
    let line = first_line(text);
    line.starts_with("test result: ").then_some(line.len())
}

/// A line of go for one package, with its warning before it if there is one.
pub(crate) fn of_go(text: &str) -> Option<usize> {
    let warned = text.strip_prefix("testing: warning: no tests to run\nPASS\n");
    let rest = warned.unwrap_or(text);
    let rest = rest.strip_prefix("ok").or_else(|| rest.strip_prefix('?'))?;
    let rest = rest.strip_prefix(is_white)?;
    Some(text.len() - rest.len() + first_line(rest).len())
}

/// Returns whether go ran a test of the package.
pub(crate) fn passed_by_go(piece: &str) -> bool {
    let rest = piece
        .strip_prefix("ok")
        .and_then(|rest| rest.strip_prefix(is_white));
    rest.is_some_and(|rest| !first_line(rest).contains("[no tests to run]"))
}

/// The line of jest for all its tests.
pub(crate) fn of_jest(text: &str) -> Option<usize> {
    let line = first_line(text);
    line.starts_with("Tests: ").then_some(line.len())
}

/// The line of vitest for all its tests.
pub(crate) fn of_vitest(text: &str) -> Option<usize> {
    let line = first_line(text);
    line.trim_start_matches(' ')
        .starts_with("Tests  ")
        .then_some(line.len())
}

/// Returns whether a line counts at least one test as passed, expectedly or not.
pub(crate) fn passed(line: &str) -> bool {
    let counts = |rest: &str| {
        let rest = after_digits(rest)
            .and_then(|rest| rest.strip_prefix(' '))
            .unwrap_or_default();
        let rest = rest
            .strip_prefix('x')
            .unwrap_or(rest)
            .strip_prefix("passed");
        rest.is_some_and(ends_word)
    };
    line.char_indices()
        .filter(|(_, char)| ('1'..='9').contains(char))
        .any(|(at, _)| {
            line.split_at_checked(at)
                .is_some_and(|(before, rest)| starts_word(before) && counts(rest))
        })
}
