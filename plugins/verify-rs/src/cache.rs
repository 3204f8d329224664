//! A private directory for compiled code, fresh for each run and gone after it [G-15].

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::refusal::Refusal;

/// Never another choice of place: the working directory may be this plugin's own.
const PLACE: &str = "/tmp";

/// The directory, which is removed with all that is in it when this value goes.
pub(crate) struct Cache(PathBuf);

impl Cache {
    /// Makes a new directory that its owner alone may use.
    pub(crate) fn new() -> Result<Self, Refusal> {
        loop {
            let number = RandomState::new().build_hasher().finish();
            let path = Path::new(PLACE).join(format!("verify-{number:016x}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(fault) if fault.kind() == ErrorKind::AlreadyExists => {}
                Err(fault) => return Err(refusal(fault, &path)),
            }
        }
    }

    /// Returns where it is, as an absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // What the test made unremovable stays: that decides nothing about its result.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refusal(fault: io::Error, path: &Path) -> Refusal {
    let said = Refusal::from(fault).to_string();
    Refusal::at(&said, format_args!("'{}'", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_private_and_gone_afterwards() {
        let cache = Cache::new().unwrap();
        let path = cache.path().to_owned();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
            0o700
        );
        fs::write(path.join("week.pyc"), "").unwrap();
        drop(cache);
        assert!(!path.exists());
    }
}
