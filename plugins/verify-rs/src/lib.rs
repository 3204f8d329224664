//! verify: run the granted test and report whether it went from failing to passing.
//!
//! The host starts the binary once per `after_turn` request, writes the request as one JSON
//! document to stdin and closes it, and reads one JSON line from stdout. There is nothing more
//! to the protocol. A request that cannot be served gets no answer: exit status 1, one line on
//! stderr, nothing on stdout.
//!
//! It reports what it saw and never what that is worth: the host alone decides done. A flip
//! compares two results of one test, so it is unobservable where either of them is missing:
//!
//! ```text
//! baseline (before)   failed        passed        unobserved, not-run   exit code
//! passed now          achieved      not-achieved  unobservable          reported
//! failed now          not-achieved  not-achieved  unobservable          reported
//! broken now          unobservable  unobservable  unobservable          reported
//! nothing now         unobservable  unobservable  unobservable          left out
//! ```
//!
//! "broken" is a runner that stopped before it could tell (an import or build error, a wrong
//! option). "nothing" is a test that never started, outlived [`TEST_LIMIT`], was ended by a
//! signal, or exited with 0 while its runner does not say that tests ran and passed.
//!
//! [`observe`] is the same observation for a program that has the grant in its hands already.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::expect_used
    )
)]

pub mod answer;
mod cache;
mod child;
mod command;
mod counts;
mod document;
mod host;
mod observe;
mod refusal;
pub mod request;
mod runners;
mod shape;
mod system;
mod words;

use std::time::Duration;

pub use host::Host;
pub use observe::{Terms, observe};
pub use refusal::Refusal;
pub use system::conceal;

/// The version of the protocol that is served, and the only one [W-10].
pub const PROTOCOL_VERSION: u32 = 1;

/// How long the test may run: below the 300 s of plugin.toml, so that an answer is still
/// possible [Q-25].
pub const TEST_LIMIT: Duration = Duration::from_secs(240);

/// Returns the line for stdout that answers `request`, without its line break.
///
/// The request comes as the bytes of stdin. This is the whole of the binary but for its pipes:
/// it hides this process from the test, and from then on a signal to stop ends the test.
pub fn answered(request: &[u8]) -> Result<String, Refusal> {
    let request = request::read(request)?;
    conceal()?;
    let host = Host::new(); // not earlier: until here a signal simply ends this process
    let terms = Terms {
        limit: TEST_LIMIT,
        awaited: &|| host.waits(),
    };
    let evidence = observe(request.body.candidate.as_ref(), &terms)?;
    if !host.waits() {
        return Err(Refusal::told_to_stop());
    }
    answer::line(evidence)
}
