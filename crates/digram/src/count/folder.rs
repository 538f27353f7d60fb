//! The folder that contains runs.

use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The file name extension of runs.
const EXTENSION: &str = ".digram-run";

/// A folder of runs; a temporary one is deleted with its contents when it is dropped.
pub(crate) struct Folder {
    path: PathBuf,
    temporary: bool,
    /// The process that created it: a forked child that drops its copy deletes nothing.
    process: u32,
}

impl Folder {
    /// Creates a folder inside `parent` that only this user can read. After a kill it remains, as
    /// `digram-counts-….tmp`.
    pub(crate) fn temporary(parent: &Path) -> Result<Folder> {
        let process = std::process::id();
        loop {
            let path = parent.join(format!("digram-counts-{process}-{:016x}.tmp", random()));
            let mut builder = DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(&path) {
                Ok(()) => return Ok(Folder { path, temporary: true, process }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(Error::of_file(&error, parent)),
            }
        }
    }

    /// An existing folder that is kept. Runs in it that are not in `names` are deleted: they were written
    /// after the last checkpoint.
    pub(crate) fn persistent(path: &Path, names: &[String]) -> Result<Folder> {
        let failed = |error| Error::of_file(&error, path);
        for entry in fs::read_dir(path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let Some(name) = name.to_str().filter(|name| name.ends_with(EXTENSION)) else { continue };
            if !names.iter().any(|other| other == name) {
                remove(&path.join(name))?;
            }
        }
        Ok(Folder { path: path.into(), temporary: false, process: std::process::id() })
    }

    pub(crate) fn is_temporary(&self) -> bool {
        self.temporary
    }

    /// A new random name for a run.
    pub(crate) fn new_name(&self) -> String {
        format!("{:016x}{EXTENSION}", random())
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Syncs the files of these names and the folder to disk.
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
            // An error in a destructor cannot be returned; the name of the folder tells what it is.
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
