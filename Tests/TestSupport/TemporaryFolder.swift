import Foundation

/// A new empty folder. `remove` or the end of the object deletes it with its contents.
package final class TemporaryFolder: Sendable {
    /// Absolute, without a slash at the end.
    package let path: String

    package init() throws {
        // A short name, since the path of a socket inside may have at most 107 bytes.
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

    /// The path of `name` inside, which may contain folders and need not exist.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Creates a folder inside, with intermediate folders, and returns its path.
    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        return path(name)
    }

    /// Writes a file inside, creates intermediate folders, and returns its path.
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

    /// Writes a UTF-8 text file inside and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }
}

/// The paths of the programs under test.
package enum BuiltProducts {
    /// The player: `REPRISE_BINARY` from the environment, or the one built with the tests.
    package static var reprise: String {
        ProcessInfo.processInfo.environment["REPRISE_BINARY"] ?? folder + "/reprise"
    }

    /// The origin as a program: `REPRISE_ORIGIN_BINARY`, or the one built with the tests.
    package static var origin: String {
        ProcessInfo.processInfo.environment["REPRISE_ORIGIN_BINARY"] ?? folder + "/reprise-origin"
    }

    /// A library to preload, which counts system calls and makes them fail.
    package static var callFaults: String { folder + "/libCallFaults.so" }

    /// The folder of the running test bundle (`.build/debug` or `.build/release`, resolved).
    package static var folder: String {
        // `argv[0]` is the bundle or a helper of the toolchain, so the bundle is
        // found by the process's executable.
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: executable).deletingLastPathComponent().path
    }
}
