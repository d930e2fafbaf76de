import Foundation

/// Where the programs under test are.
package enum BuiltProducts {
    /// The player: `REPRISE_BINARY` of the environment, else the one built beside the tests.
    package static var reprise: String {
        ProcessInfo.processInfo.environment["REPRISE_BINARY"] ?? folder + "/reprise"
    }

    /// The origin as a program, built beside the tests.
    package static var origin: String { folder + "/reprise-origin" }

    /// The library that counts and fails the calls of the program it is preloaded into.
    package static var callFaults: String { folder + "/libCallFaults.so" }

    /// The folder of the running test bundle (`.build/debug` or `.build/release`, resolved).
    package static var folder: String {
        // The first argument is the bundle itself or a helper of the toolchain, so the bundle is
        // looked for in what the process runs.
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: executable).deletingLastPathComponent().path
    }
}
