//! Short programs to start from. Each is an example of this package.
