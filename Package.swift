// swift-tools-version: 6.1
import PackageDescription

/// The one list of settings that every Swift target shares.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A module of the star: it imports `System`, `Media` and the C modules in its row, and nothing else.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: ["System", "Media"] + dependencies, swiftSettings: settings)
}

/// The tests of one module; `data` are folders of files that they read by path.
func tests(_ name: String, _ dependencies: [Target.Dependency], data: [String] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: ["System", "Media", "TestSupport"] + dependencies,
        exclude: data,
        swiftSettings: settings
    )
}

/// A C library of the system, by module map and a shim of `static inline` functions.
func system(_ name: String, apt package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(name)", providers: [.apt([package])])
}

let package = Package(
    name: "reprise",
    products: [
        .executable(name: "reprise", targets: ["Reprise"]),
        .executable(name: "reprise-origin", targets: ["RepriseOriginCommand"]),
        // Not installed: tests preload it into the player.
        .library(name: "CallFaults", type: .dynamic, targets: ["CallFaults"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .target(name: "CSystem", linkerSettings: [.linkedLibrary("dl")]),
        .target(name: "CTerminal"),
        // These are opened while the player runs, and not linked.
        .target(name: "COpus", dependencies: ["CSystem"]),
        .target(name: "CVorbis", dependencies: ["CSystem"]),
        .target(name: "CCrypto", dependencies: ["CSystem"]),
        .target(name: "CCurl", dependencies: ["CSystem"]),
        .target(name: "CFAAD", dependencies: ["CSystem"]),
        .target(name: "CFLAC", dependencies: ["CSystem"]),
        .target(name: "CPulse", dependencies: ["CSystem"]),
        .target(name: "CSndfile", dependencies: ["CSystem"]),
        .target(name: "CSystemd", dependencies: ["CSystem"]),
        .target(name: "CToml"),
        system("CSQLite", apt: "libsqlite3-dev"),
        system("CSodium", apt: "libsodium-dev"),
        system("CExpat", apt: "libexpat1-dev"),
        system("CMpg123", apt: "libmpg123-dev"),
        system("CKissFFT", apt: "libkissfft-dev"),
        system("CCurses", apt: "libncurses-dev"),
        system("CUtf8proc", apt: "libutf8proc-dev"),

        .target(name: "System", dependencies: ["CSystem", "CSQLite"], swiftSettings: settings),
        .target(name: "Media", dependencies: ["System", "CUtf8proc"], swiftSettings: settings),
        module("Playlists", ["CExpat"]),
        module("HTTP", ["CCurl", "CCrypto"]),
        module("Cache", ["CSodium"]),
        module("Loading"),
        module("Segments"),
        module("Decoding", ["CMpg123", "CFLAC", "CFAAD", "COpus", "CVorbis", "CSndfile"]),
        module("Output", ["CPulse"]),
        module("Desktop", ["CSystemd"]),
        module("Playback", ["CKissFFT"]),
        module("TerminalUI", ["CCurses", "CTerminal"]),
        .executableTarget(
            name: "Reprise",
            dependencies: [
                "System", "Media", "Playlists", "HTTP", "Cache", "Loading", "Segments", "Decoding", "Output",
                "Playback", "Desktop", "TerminalUI", "CToml",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: ["midnight", "ember", "paper"].map { .embedInCode("Configuration/Themes/\($0).toml") },
            swiftSettings: settings
        ),
        .target(
            name: "RepriseOrigin",
            dependencies: [.product(name: "FlyingSocks", package: "FlyingFox")],
            path: "Tests/Origin/RepriseOrigin",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RepriseOriginCommand",
            dependencies: [
                "RepriseOrigin",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Origin/RepriseOriginCommand",
            swiftSettings: settings
        ),

        .target(
            name: "TestSupport",
            dependencies: ["System", "Media", "RepriseOrigin"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(name: "CallFaults", path: "Tests/CallFaults"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "System", "Media", "Cache", "Loading", "Playback", "TerminalUI", "CSQLite", "RepriseOrigin",
                "TestSupport",
            ],
            path: "Tests/Benchmarks",
            swiftSettings: settings
        ),
        tests("SystemTests", []),
        tests("MediaTests", []),
        tests("PlaylistsTests", ["Playlists"]),
        tests("HTTPTests", ["HTTP", "CCurl", "RepriseOrigin"]),
        tests("CacheTests", ["Cache", "CSQLite"]),
        tests("LoadingTests", ["Loading", "HTTP", "Cache", "RepriseOrigin"]),
        tests("SegmentsTests", ["Segments"]),
        tests("NetworkTests", ["HTTP", "Cache", "Loading", "Decoding", "RepriseOrigin"]),
        tests("DecodingTests", ["Decoding"]),
        tests("OutputTests", ["Output"]),
        tests("DesktopTests", ["Desktop"]),
        tests("PlaybackTests", ["Playback", "Output"]),
        tests("TerminalUITests", ["TerminalUI"], data: ["Captures/Frames"]),
        tests("OriginTests", ["RepriseOrigin"]),
        tests("RepriseTests", ["Reprise", "Cache", "HTTP", "Loading", "Output", "Playback", "TerminalUI"]),
        tests("BenchmarkTests", ["Benchmarks"]),
        tests("EndToEndTests", ["RepriseOrigin", "Cache", "CSQLite"]),
    ],
    cxxLanguageStandard: .cxx17
)

/// With `REPRISE_TESTS=CacheTests,LoadingTests`, the package is these tests and what they need. That builds
/// in a fraction of the time, for a person who works on one module and for the thread sanitizer.
if let wanted = Context.environment["REPRISE_TESTS"] {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var names: Set<String> = []
    func keep(_ name: String) {
        guard let target = targets[name], names.insert(name).inserted else { return }
        for case .byNameItem(let name, _) in target.dependencies { keep(name) }
    }
    for name in wanted.split(separator: ",") { keep(String(name)) }
    package.products = []
    package.targets.removeAll { !names.contains($0.name) }
}
