import CToml
import Media
import System

/// The values of a TOML document (toml.io, version 1.0), in the order of its lines.
struct TOMLDocument: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        case text(String)
        /// A number in decimal.
        case number(String)
        case boolean(Bool)
        case date
        /// An empty table or array.
        case nothing
    }

    struct Value: Sendable, Equatable {
        /// The names from the root to the value; an element of an array has its index, from 0.
        var path: [String]
        var content: Content
        /// From 1.
        var line: Int
    }

    /// The first syntax error of a text.
    struct Refusal: Error, Equatable {
        /// From 1.
        var line: Int
        var reason: SafeText
    }

    private(set) var values: [Value] = []

    /// The values in the valid parts of `text`, and the errors in the others. If `text` has an error, its
    /// tables are parsed one by one: each gives the values of the lines before its first error. The errors
    /// are the first one of the whole text and the first one of each table.
    static func valid(in text: String) -> (values: [Value], refusals: [Refusal]) {
        var values: [Value] = []
        var refusals: [Refusal] = []
        do {
            return (try TOMLDocument(parsing: text).values, [])
        } catch { refusals.append(error) }
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        let tables = lines.indices.filter { lines[$0].drop(while: \.isWhitespace).first == "[" }
        for (start, end) in zip([0] + tables, tables + [lines.count]) {
            var end = end
            var isReported = false
            while start < end {
                do {
                    let document = try TOMLDocument(parsing: lines[start..<end].joined(separator: "\n"))
                    values += document.values.map { value in
                        var value = value
                        value.line += start
                        return value
                    }
                    break
                } catch {
                    let line = min(end, start + error.line)
                    if !isReported, !refusals.contains(where: { $0.line == line }) {
                        refusals.append(Refusal(line: line, reason: error.reason))
                    }
                    end = line - 1
                    isReported = true
                }
            }
        }
        return (values, refusals)
    }

    /// Parses `text`; throws its first error.
    init(parsing text: String) throws(Refusal) {
        let collector = Collector()
        // `ctoml_parse` calls back before it returns, and `collector` lives until then.
        let box = Unmanaged.passUnretained(collector).toOpaque()
        var text = text
        let isParsed = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                // The base address of an empty string may be null.
                guard let start = characters.baseAddress else { return true }
                return ctoml_parse(start, characters.count, box, Collector.visit, Collector.refuse) != 0
            }
        }
        if !isParsed {
            throw collector.refusal ?? Refusal(line: 1, reason: "is not TOML")
        }
        values = collector.values
    }
}

/// Collects the values that `ctoml_parse` visits.
private final class Collector: CallbackContext {
    var values: [TOMLDocument.Value] = []
    var refusal: TOMLDocument.Refusal?

    static let visit: ctoml_visit = { context, path, pathLength, _, kind, text, textLength, line in
        guard let collector = from(context) else { return }
        let names = string(path, pathLength).split(separator: "\0", omittingEmptySubsequences: false)
        collector.values.append(
            TOMLDocument.Value(
                path: names.dropLast().map(String.init),
                content: content(kind, string(text, textLength)),
                line: Int(line)
            )
        )
    }

    static let refuse: ctoml_refuse = { context, reason, length, line in
        from(context)?.refusal = TOMLDocument.Refusal(
            line: Int(line),
            reason: SafeText(string(reason, length))
        )
    }

    private static func content(_ kind: Int32, _ text: String) -> TOMLDocument.Content {
        switch UInt32(bitPattern: kind) {
        case ctoml_string.rawValue: .text(text)
        case ctoml_integer.rawValue, ctoml_float.rawValue: .number(text)
        case ctoml_boolean.rawValue: .boolean(text == "true")
        case ctoml_date.rawValue: .date
        default: .nothing
        }
    }

    private static func string(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        guard let start, length > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }
}
