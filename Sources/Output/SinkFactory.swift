package import Media

extension SinkKind {
    /// The output of this kind, not yet connected.
    ///
    /// `clock` is the time of the null device; every other output has its own: the server's, or none.
    package func makeOutput(clock: any MonotonicClock) -> any AudioOutput {
        switch self {
        case .pulse(let sink): PulseOutput(sink: sink)
        case .null: NullOutput(clock: clock)
        case .nullFast: FastNullOutput()
        case .wav(let path): WAVFileOutput(path: path)
        case .raw(let path): RawFileOutput(path: path)
        case .rawStandardOutput: RawFileOutput.standardOutput()
        }
    }
}
