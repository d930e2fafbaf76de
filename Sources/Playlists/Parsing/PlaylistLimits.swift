/// What a playlist may cost, and what of a long one is wanted before the rest. Lists come from anywhere, and a small
/// one can name a large one.
package struct PlaylistLimits: Sendable {
    /// Bytes of one list. A list of 600,000 entries, the largest that users report, has 20 MiB.
    package var bytes = 64 * 1024 * 1024
    /// Entries of one source, nested lists and folders included.
    package var entries = 1_000_000
    /// Lists opened for one source: eight levels that each name ten lists would be 100 million.
    package var lists = 1_000
    /// Lists within lists; more is a mistake or a trap.
    package var depth = 8
    /// Folders within folders.
    package var folderDepth = 64
    /// Bytes of a list from which on its first tracks are worth having before the others: less is read in about a
    /// millisecond.
    package var longList = 64 * 1024
    /// Bytes at the start of a long list in which its first entries are looked for.
    package var beginning = 64 * 1024
    /// Entries that a long list begins with, at most: several screens full, in half a millisecond.
    package var firstEntries = 500

    package init() {}
}
