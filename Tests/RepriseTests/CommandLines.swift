@testable import Reprise

extension Options {
    /// The options of a command line that plays; throws its refusal.
    static func parsed(_ arguments: String...) throws -> Options { try parsed(arguments) }

    static func parsed(_ arguments: [String]) throws -> Options {
        guard case .play(let options) = try Invocation.parse(arguments) else {
            throw UsageError("not a command line that plays")
        }
        return options
    }
}

extension CacheRequest {
    /// The request of a command line of `reprise cache`; throws its refusal.
    static func parsed(_ arguments: String...) throws -> CacheRequest { try parsed(arguments) }

    static func parsed(_ arguments: [String]) throws -> CacheRequest {
        guard case .cache(let request) = try Invocation.parse(["cache"] + arguments) else {
            throw UsageError("not a command of the cache")
        }
        return request
    }
}

/// The text that a command line only prints.
func shown(_ arguments: String...) throws -> String { try shown(arguments) }

func shown(_ arguments: [String]) throws -> String {
    guard case .show(let text) = try Invocation.parse(arguments) else { throw UsageError("nothing to show") }
    return text
}
