//! The process that waits for the answer, as long as it does [T-33].

use std::os::unix::process::parent_id;

use crate::system;

/// The parent of this process.
pub struct Host {
    parent: u32,
}

impl Host {
    /// Takes note of the parent; from now on a signal to stop is no longer the end of this process.
    #[allow(clippy::new_without_default)] // it changes what signals do, which no default may
    pub fn new() -> Self {
        let parent = parent_id();
        system::note_stops();
        Self { parent }
    }

    /// Returns whether somebody waits still; another parent means that the host died.
    pub fn waits(&self) -> bool {
        !system::told_to_stop() && parent_id() == self.parent
    }
}
