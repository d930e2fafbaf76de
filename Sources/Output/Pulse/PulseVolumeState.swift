import CPulse

/// Tells the volume that somebody else set from the echo of our own setting.
///
/// The server signals every change without its value, ours included, and the value must be asked for.
/// It answers in order, so an answer asked for after our last setting includes it; an older one is
/// not worth anything.
struct PulseVolumeState {
    struct Level: Equatable, Sendable {
        var percent: Int
        var isMuted: Bool

        /// What a stream has that nobody ever touched.
        static let untouched = Level(percent: 100, isMuted: false)
    }

    enum Action: Equatable {
        case none
        /// Ask the server for the volume; `answered` or `unanswered` follows.
        case ask
        case report(Level)
    }

    private(set) var level = Level.untouched
    /// Whether anybody ever chose a volume, be it the untouched one. Until then the server's memory of
    /// this application's volume stands.
    private(set) var isChosen = false
    private var isAsking = false
    private var isStale = false

    mutating func chosen(_ level: Level) {
        self.level = level
        isChosen = true
        isStale = isAsking
    }

    mutating func changeSignalled() -> Action {
        guard isAsking else {
            isAsking = true
            return .ask
        }
        isStale = true
        return .none
    }

    mutating func answered(_ answer: Level) -> Action {
        isAsking = false
        if isStale {
            isStale = false
            return changeSignalled()
        }
        guard answer != level else { return .none }
        level = answer
        isChosen = true
        return .report(answer)
    }

    /// The question failed, or its stream is gone.
    mutating func unanswered() {
        isAsking = false
        isStale = false
    }
}

extension PulseVolumeState.Level {
    /// `PA_VOLUME_NORM`, a macro with a cast that Swift does not see.
    private static let full: UInt64 = 0x10000

    /// The server's scale is linear in percent as mixers show it; the curve is the server's affair.
    var volume: pa_volume_t {
        pa_volume_t((UInt64(min(max(percent, 0), 100)) * Self.full + 50) / 100)
    }

    /// Amplified streams, which mixers allow, show as 100.
    init(volume: pa_volume_t, isMuted: Bool) {
        let percent = (UInt64(volume) * 100 + Self.full / 2) / Self.full
        self.init(percent: Int(min(percent, 100)), isMuted: isMuted)
    }
}
