import Media
import Output

/// What a command line that plays asks for, checked and typed.
struct Options: Sendable, Equatable {
    enum ReadAhead: Sendable, Equatable {
        /// Music's time; the loader turns it into bytes.
        case time(Duration)
        /// In bytes.
        case size(Int64)
        /// To the end of the track.
        case all
    }

    /// As typed, in order; `-` is a playlist on standard input.
    var sources: [String] = []
    var headless = false
    var json = false
    var plain = false
    var sink = SinkKind.pulse(sink: nil)
    var keeping = KeepingOptions()
    var noCache = false
    var offline = false
    var refresh = false
    var readAhead = ReadAhead.time(.seconds(60))
    /// Whether heard tracks are fetched whole in the background.
    var fill = false
    /// The file that the journal of requests goes to.
    var journalFile: String?
    /// 0...100; nil for that of the last session.
    var volume: Int?
    /// nil for what was on in the last session.
    var shuffle: Bool?
    /// nil for that of the last session.
    var repeatMode: RepeatMode?
    var gain: GainMode?
    /// Whether what the last session left is not taken up.
    var fresh = false
    /// Whether the mouse stays the terminal's.
    var noMouse = false
    /// A place in the queue, from 1; nil for the first in playing order.
    var start: Int?
    /// Where the first track begins.
    var seek = Duration.zero
    var network = NetworkOptions()

    /// Whether the playlist comes on standard input, which then carries no commands.
    var readsListFromInput: Bool { sources.contains("-") }

    /// Whether the samples go to standard output, and the events so to standard error.
    var writesSamplesToOutput: Bool { sink.takesStandardOutput }
}
