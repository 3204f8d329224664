//! Why a request gets no answer, as one line [W-29].

use std::fmt;
use std::io;

/// The place of a fault that has no other.
pub(crate) const WHOLE: &str = "the request";

/// Of a value that is quoted in a refusal.
pub(crate) const SHOWN_CHARS: usize = 40;

/// Why this request gets no answer: the line for stderr, place first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    /// Returns the refusal of what is at `place`.
    pub(crate) fn at(place: &str, what: impl fmt::Display) -> Self {
        Self(format!("{place}: {what}"))
    }

    /// Returns the refusal of the request as a whole.
    pub(crate) fn whole(what: impl fmt::Display) -> Self {
        Self::at(WHOLE, what)
    }

    /// Returns the refusal of a request that the system is no place to serve.
    pub(crate) fn system(what: &str) -> Self {
        Self(format!("the system {what}"))
    }

    /// Returns what is said of a test that ended because nobody waits for its result any more.
    pub(crate) fn told_to_stop() -> Self {
        Self::at("the test", "ended with this plugin, which was told to stop")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl From<io::Error> for Refusal {
    /// The words of the system with their number in front, as Python has them.
    fn from(fault: io::Error) -> Self {
        let said = fault.to_string();
        let Some(number) = fault.raw_os_error() else {
            return Self(said);
        };
        let words = said.trim_end_matches(&format!(" (os error {number})"));
        Self(format!("[Errno {number}] {words}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_system_is_told_with_its_number_first() {
        let fault = Refusal::from(io::Error::from_raw_os_error(32));
        assert_eq!(fault.to_string(), "[Errno 32] Broken pipe");
        let other = Refusal::from(io::Error::other("no such thing"));
        assert_eq!(other.to_string(), "no such thing");
    }
}
