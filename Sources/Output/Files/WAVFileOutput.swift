import Media

/// `wav:PATH`: a RIFF file whose header gets its sizes at `close`.
package final class WAVFileOutput: ConsumingOutput, @unchecked Sendable {
    // Unchecked as its superclass; it adds no field.

    /// Writes to `path`, or with `%n` in it to one file for each `open`, numbered from 1.
    package init(path: String) {
        super.init(consumer: FileConsumer(pattern: path, container: .wav), threadName: "output-wav")
    }
}
