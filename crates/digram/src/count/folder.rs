//! The folder that runs lie in.

use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// What the names of runs end with.
const ENDING: &str = ".digram-run";

/// A folder, and whether it is deleted with all in it when nobody needs it any more.
pub(crate) struct Folder {
    path: PathBuf,
    temporary: bool,
    /// Who made it: a forked child that drops its copy deletes nothing.
    process: u32,
}

impl Folder {
    /// A folder that was not there yet, for this user alone, inside one that is. After a kill it
    /// stays, as `digram-counts-….tmp`.
    pub(crate) fn temporary(inside: &Path) -> Result<Folder> {
        let process = std::process::id();
        loop {
            let path = inside.join(format!("digram-counts-{process}-{:016x}.tmp", random()));
            let mut builder = DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(&path) {
                Ok(()) => return Ok(Folder { path, temporary: true, process }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(Error::of_file(&error, inside)),
            }
        }
    }

    /// A folder that stays. Runs in it that are none of `names` are deleted: whoever made them was
    /// killed before anybody knew of them.
    pub(crate) fn kept(path: &Path, names: &[String]) -> Result<Folder> {
        let failed = |error| Error::of_file(&error, path);
        for entry in fs::read_dir(path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let Some(name) = name.to_str().filter(|name| name.ends_with(ENDING)) else { continue };
            if !names.iter().any(|known| known == name) {
                remove(&path.join(name))?;
            }
        }
        Ok(Folder { path: path.into(), temporary: false, process: std::process::id() })
    }

    pub(crate) fn is_temporary(&self) -> bool {
        self.temporary
    }

    /// A name that no run has.
    pub(crate) fn new_name(&self) -> String {
        format!("{:016x}{ENDING}", random())
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Waits until the files of these names, and that they are there, are on the disk.
    pub(crate) fn sync<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<()> {
        for path in names.into_iter().map(|name| self.file(name)) {
            let synced = File::open(&path).and_then(|file| file.sync_all());
            synced.map_err(|error| Error::of_file(&error, &path))?;
        }
        #[cfg(unix)]
        File::open(&self.path)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| Error::of_file(&error, &self.path))?;
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary && self.process == std::process::id() {
            // Nobody is there to be told; what stays has a name that says what it is.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

pub(crate) fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| Error::of_file(&error, path))
}

fn random() -> u64 {
    RandomState::new().hash_one(std::time::Instant::now())
}
