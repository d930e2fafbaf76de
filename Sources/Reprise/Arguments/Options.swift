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
    /// 0...100.
    var volume = 100
    var shuffle = false
    var repeatMode = RepeatMode.off
    var gain = GainMode.off
    /// A place in the queue, from 1.
    var start = 1
    /// Where the first track begins.
    var seek = Duration.zero
    var network = NetworkOptions()

    /// Whether the playlist comes on standard input, which then carries no commands.
    var readsListFromInput: Bool { sources.contains("-") }

    /// Whether the samples go to standard output, and the events so to standard error.
    var writesSamplesToOutput: Bool { sink.takesStandardOutput }
}
