import Media

/// Where a `ConsumingOutput` puts its PCM. Every call is on the output's own thread.
protocol FrameConsumer: AnyObject, Sendable {
    /// Makes the file, so that a folder that cannot be written is known before the first track.
    func connect() throws(MediaError)

    /// The bytes that follow are of `format`; ends what came before.
    func begin(_ format: AudioFormat) throws(MediaError)

    /// Takes a prefix of `bytes` and returns how long it is: all, or less once `interruption` is raised.
    func consume(_ bytes: UnsafeRawBufferPointer, until interruption: Interruption) throws(MediaError) -> Int

    /// Finishes and closes the file; may be called more than once.
    func end()

    /// Whether each track is to be opened for itself.
    var opensEachTrack: Bool { get }
}
