import CPulse
import Media
import System

/// The volume of one stream at the server, which mixers can change too.
///
/// Every method is called with the main loop's lock held.
final class PulseVolume: CallbackContext, @unchecked Sendable {
    // Unchecked: all variables are touched with the main loop's lock held.
    private let context: OpaquePointer
    private let stream: OpaquePointer
    private let channelCount: Int
    private let onChange: @Sendable (PulseVolumeState.Level) -> Void
    private var state: PulseVolumeState
    /// The query for the volume, so that `close` can cancel it.
    private var question: OpaquePointer?
    /// The reply to the query, between its two callbacks.
    private var heard: PulseVolumeState.Level?

    /// `onChange` is called when another program has changed the volume.
    init(
        of stream: OpaquePointer,
        in context: OpaquePointer,
        channelCount: Int,
        state: PulseVolumeState,
        onChange: @escaping @Sendable (PulseVolumeState.Level) -> Void
    ) {
        self.stream = stream
        self.context = context
        self.channelCount = channelCount
        self.state = state
        self.onChange = onChange
    }

    /// The server has created the stream: sets the chosen volume, or queries the one that the server
    /// remembers.
    func streamIsReady() {
        if state.level == nil { act(on: state.changeSignalled()) } else { apply() }
    }

    /// Sets the volume, if the stream `isReady`; otherwise it is set once it is.
    func choose(_ level: PulseVolumeState.Level, isReady: Bool) {
        state.chosen(level)
        if isReady { apply() }
    }

    /// The server reports a change of the sink input `index`, which may be another stream's.
    func inputChanged(_ index: UInt32) {
        guard index == pa_stream_get_index(stream) else { return }
        act(on: state.changeSignalled())
    }

    /// Cancels the query in progress; its callback is not called any more.
    func close() {
        guard let question else { return }
        if pa_operation_get_state(question) == PA_OPERATION_RUNNING { pa_operation_cancel(question) }
        pa_operation_unref(question)
        self.question = nil
        state.unanswered()
    }

    private func apply() {
        guard let level = state.level else { return }
        let index = pa_stream_get_index(stream)
        var levels = pa_cvolume()
        pa_cvolume_set(&levels, UInt32(clamping: channelCount), level.volume)
        forget(pa_context_set_sink_input_volume(context, index, &levels, nil, nil))
        forget(pa_context_set_sink_input_mute(context, index, level.isMuted ? 1 : 0, nil, nil))
    }

    private func act(on action: PulseVolumeState.Action) {
        switch action {
        case .none: break
        case .ask: ask()
        case .report(let level): onChange(level)
        }
    }

    private func ask() {
        // Unretained: the stream owns this object, and calls `close`, which cancels the query, before it
        // releases it.
        question = pa_context_get_sink_input_info(
            context,
            pa_stream_get_index(stream),
            { _, info, endOfList, box in PulseVolume.from(box)?.answered(info, endOfList) },
            Unmanaged.passUnretained(self).toOpaque()
        )
        if question == nil { state.unanswered() }
    }

    /// Called with the sink input, and once more at the end of this list of one.
    private func answered(_ info: UnsafePointer<pa_sink_input_info>?, _ endOfList: CInt) {
        if endOfList == 0, let info {
            heard = withUnsafePointer(to: info.pointee.volume) { levels in
                PulseVolumeState.Level(volume: pa_cvolume_avg(levels), isMuted: info.pointee.mute != 0)
            }
            return
        }
        forget(question)
        question = nil
        guard endOfList > 0, let level = heard else { return state.unanswered() }
        heard = nil
        act(on: state.answered(level))
    }
}

/// Distinguishes a volume that another program has set from the echo of our own setting.
///
/// The server signals every change, including ours, but without the value, which must be queried. It replies
/// in order: the reply to a query after our last setting includes that setting; an older reply is ignored.
struct PulseVolumeState {
    struct Level: Equatable, Sendable {
        var percent: Int
        var isMuted: Bool

        /// The level of a stream that was never changed.
        static let untouched = Level(percent: 100, isMuted: false)
    }

    enum Action: Equatable {
        case none
        /// Query the server's volume; `answered` or `unanswered` follows.
        case ask
        case report(Level)
    }

    /// `nil` until a volume is chosen: then it is the one that the server remembers for this application.
    private(set) var level: Level?
    private var isAsking = false
    private var isStale = false

    mutating func chosen(_ level: Level) {
        self.level = level
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
        guard answer != level ?? .untouched else { return .none }
        level = answer
        return .report(answer)
    }

    /// The query failed, or its stream is gone.
    mutating func unanswered() {
        isAsking = false
        isStale = false
    }
}

extension PulseVolumeState.Level {
    /// `PA_VOLUME_NORM`, a macro with a cast, which Swift does not import.
    private static let full: UInt64 = 0x10000

    /// The server's scale is linear in the percent that mixers show; the server applies the curve.
    var volume: pa_volume_t { pa_volume_t((UInt64(min(max(percent, 0), 100)) * Self.full + 50) / 100) }

    /// Streams that a mixer amplifies count as 100.
    init(volume: pa_volume_t, isMuted: Bool) {
        let percent = (UInt64(volume) * 100 + Self.full / 2) / Self.full
        self.init(percent: Int(min(percent, 100)), isMuted: isMuted)
    }
}
