import Foundation

/// An empty folder of its own, removed with all it holds by `remove` or with the object.
package final class TemporaryFolder: Sendable {
    /// Absolute, without a slash at the end.
    package let path: String

    package init() throws {
        // A short name: sockets inside must have a path of at most 107 bytes.
        let name = "reprise-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit { remove() }

    /// Removes the folder now; later calls do nothing.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// The path of `name` inside, which may have folders in it and need not exist.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Makes a folder inside, and those around it, and returns its path.
    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        return path(name)
    }

    /// Writes a file inside, and makes the folders around it; returns its path.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        let url = URL(fileURLWithPath: path(name))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: url)
        return path(name)
    }

    /// Writes a file of text inside, in UTF-8; returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }
}
