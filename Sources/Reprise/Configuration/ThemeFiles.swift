import Glibc
import Media
import System
import TerminalUI

/// The themes that the user can choose: those of the screen, those of files in the binary, and his own files.
enum ThemeFiles {
    /// More files than this are not listed.
    private static let most = 200
    private static let suffix = ".toml"

    /// The files in the binary, which needs no installation.
    private static let embedded = [
        ("midnight", PackageResources.midnight_toml), ("ember", PackageResources.ember_toml),
        ("paper", PackageResources.paper_toml),
    ]

    /// The names of the themes that are always there.
    static let names = Theme.plain.map(\.name) + embedded.map(\.0)

    /// The folder of the user's own files; `nil` if there is no home.
    static var folder: String? { BasePaths.path(of: .configuration).map { $0 + "/themes" } }

    /// The theme called `name`. Throws if no theme has this name, or if its file is broken.
    static func theme(named name: String, in folder: String? = folder) throws(UsageError) -> Theme {
        if let theme = Theme.plain.first(where: { $0.name == name }) { return theme }
        if let bytes = embedded.first(where: { $0.0 == name })?.1 {
            return Theme(name, colors: try colors(in: String(decoding: bytes, as: UTF8.self), file: name))
        }
        let path = folder.map { $0 + "/" + name + suffix }
        guard let path, !name.isEmpty, !name.contains("/"), access(FileName.cString(path), F_OK) == 0 else {
            let hint = Spelling.hint(for: name, among: names)
            let place = folder.map { ", or write one in " + $0 } ?? ""
            throw UsageError(
                "no theme has this name" + (hint.isEmpty ? "; use \(list(names))" + place : hint)
            )
        }
        let text: String
        do {
            text = try TextFile.read(path)
        } catch {
            throw UsageError(error.description)
        }
        return Theme(name, colors: try colors(in: text, file: path))
    }

    /// All themes; the user's own last, by name. A file with the name of one of ours is never read.
    static func all(in folder: String? = folder) -> [ThemeChoice] {
        (names + ownNames(in: folder)).map { name in
            do throws(UsageError) {
                return ThemeChoice(try theme(named: name, in: folder))
            } catch {
                return ThemeChoice(name, problem: error.message)
            }
        }
    }

    private static func ownNames(in folder: String?) -> [String] {
        guard let folder, let stream = opendir(FileName.cString(folder)) else { return [] }
        defer { closedir(stream) }
        var found: [String] = []
        while found.count < most, let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let file = FileName.text(bytes)
            let name = String(file.dropLast(suffix.count))
            guard file.hasSuffix(suffix), !file.hasPrefix("."), SafeText(name).string == name,
                !names.contains(name)
            else { continue }
            found.append(name)
        }
        return found.sorted()
    }

    /// The colours of a theme's file: the table `[colors]`, as in the configuration, and nothing else.
    private static func colors(in text: String, file: String) throws(UsageError) -> ColorTable {
        let file = Configuration(parsing: text, name: file)
        if let error = file.errors.first { throw error }
        guard file.entries.isEmpty, file.pairs.allSatisfy({ $0.table == ScreenSettings.colorTable }) else {
            throw UsageError(file.name + " has more than the table [colors]; move the rest to config.toml")
        }
        return file.screen.colors
    }

    private static func list(_ names: [String]) -> String {
        names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    }
}
