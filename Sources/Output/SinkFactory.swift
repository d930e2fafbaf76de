package import Media
package import System

extension SinkKind {
    /// The output of this kind, not yet connected.
    ///
    /// `clock` is the time of the null device, and limits the wait for an audio server.
    package func makeOutput(clock: any MonotonicClock) -> any AudioOutput {
        switch self {
        case .pulse(let sink): PulseOutput(sink: sink, clock: clock)
        case .null: NullOutput(clock: clock)
        case .nullFast: FastNullOutput()
        case .wav(let path): WAVFileOutput(path: path)
        case .raw(let path): RawFileOutput(path: path)
        case .rawStandardOutput: RawFileOutput.standardOutput()
        }
    }
}
