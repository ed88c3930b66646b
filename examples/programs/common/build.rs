//! Packs the bundled kernel trace, which the programs contain.

#[cfg(feature = "bundled")]
mod packed {
    use std::env;
    use std::fs::{self, File};
    use std::io;
    use std::path::{Path, PathBuf};

    use flate2::{Compression, GzBuilder};

    /// The files of the trace, and the name of the archive in the folder of the build.
    const TRACE: &str = "../../traces/kernel";
    const ARCHIVE: &str = "kernel.tar.gz";

    /// Writes the archive.
    pub(super) fn write() -> io::Result<()> {
        println!("cargo::rerun-if-changed={TRACE}");
        let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
        let packed = GzBuilder::new().write(File::create(out.join(ARCHIVE))?, Compression::best());
        let mut archive = tar::Builder::new(packed);
        add(&mut archive, Path::new(TRACE), Path::new("kernel"))?;
        archive.into_inner()?.finish()?.sync_all()
    }

    /// Adds a folder, with the same bytes wherever it is.
    fn add(
        archive: &mut tar::Builder<impl io::Write>,
        folder: &Path,
        name: &Path,
    ) -> io::Result<()> {
        let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = name.join(path.file_name().unwrap_or_default());
            if path.is_dir() {
                add(archive, &path, &name)?;
                continue;
            }
            let mut header = tar::Header::new_ustar();
            header.set_size(path.metadata()?.len());
            header.set_mode(0o644);
            archive.append_data(&mut header, &name, File::open(&path)?)?;
        }
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    #[cfg(feature = "bundled")]
    packed::write()?;
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
