import ArgumentParser
import RepriseOrigin

/// One `--fault`: `/song.mp3=cut:300000`, `/a.mp3=2x:status:503,retry-after:1`, `*=no-validators`.
struct FaultOption: ExpressibleByArgument {
    static let grammar = """
        PATH=FAULT[,FAULT ...], with Nx: before the first fault for the next N answers only. Faults: cut:BYTES, \
        stall:BYTES, silence, no-ranges, refuse-ranges:STATUS, no-validators, status:CODE, retry-after:SECONDS, \
        redirect:LOCATION, html, chunked, until-close, gzip, icy, live[:NAME].
        """

    /// Decoded, or `*`.
    var path: String
    /// The number of answers it applies to; `nil` for all.
    var count: Int?
    var faults: [Fault]

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), argument.first == "/" || argument.first == "*" else {
            return nil
        }
        path = String(argument[..<equals])
        var rest = argument[argument.index(after: equals)...]
        if let mark = rest.firstRange(of: "x:"), let number = Int(rest[..<mark.lowerBound]), number > 0 {
            count = number
            rest = rest[mark.upperBound...]
        }
        faults = []
        for word in rest.split(separator: ",", omittingEmptySubsequences: false) {
            guard let fault = Self.fault(word) else { return nil }
            faults.append(fault)
        }
    }

    private static func fault(_ word: Substring) -> Fault? {
        let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? String(parts[1]) : ""
        let number = Int64(value).flatMap { $0 >= 0 ? $0 : nil }
        let status = Int(value).flatMap { (100...599).contains($0) ? $0 : nil }
        switch parts[0] {
        case "cut": return number.map { .cut(afterBytes: $0) }
        case "stall": return number.map { .stall(afterBytes: $0) }
        case "silence": return .silence
        case "no-ranges": return .ignoresRanges
        case "refuse-ranges": return status.map { .refusesRanges(status: $0) }
        case "no-validators": return .noValidators
        case "status": return status.map { .status($0) }
        case "retry-after": return number.map { .field("Retry-After", "\($0)") }
        case "redirect": return value.isEmpty ? nil : .redirect(status: 302, location: value)
        case "html": return .htmlPage
        case "chunked": return .chunked
        case "until-close": return .closeDelimited
        case "gzip": return .gzip
        case "icy": return .protocolName("ICY")
        case "live": return .live(LiveStream(name: value.isEmpty ? "Test Radio" : value))
        default: return nil
        }
    }
}
