import Foundation
import TestSupport

/// What happens to the calls by which a player changes files below one folder (`Tests/CallFaults`).
struct CallFaults: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        /// The process ends in the middle of the call.
        case kill
        /// From the call on nothing more can be written.
        case full
        /// The call alone is refused.
        case fullOnce = "full-once"
    }

    private let folder: String
    private let counterPath: String
    private let fault: (kind: Kind, at: Int)?

    /// Counts the calls below `folder`, which need not be there yet, and with a fault changes one of them.
    init(below folder: String, in temporary: TemporaryFolder, fault: (kind: Kind, at: Int)? = nil) throws {
        self.folder = folder
        self.fault = fault
        let name = "calls-\(UInt64.random(in: 0...UInt64.max))"
        counterPath = try temporary.write([UInt8](repeating: 0, count: 8), to: name)
    }

    /// How many calls there were so far.
    var count: Int {
        let bytes = FileManager.default.contents(atPath: counterPath) ?? Data()
        return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// For the environment of the player.
    var environment: [String: String?] {
        [
            "LD_PRELOAD": BuiltProducts.callFaults, "CALL_FAULTS_FOLDER": folder,
            "CALL_FAULTS_COUNTER": counterPath, "CALL_FAULTS_AT": fault.map { "\($0.at)" },
            "CALL_FAULTS_KIND": fault?.kind.rawValue,
        ]
    }
}
