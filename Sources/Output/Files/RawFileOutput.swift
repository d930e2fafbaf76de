import Glibc
import Media

/// `raw:PATH`: bare s16le samples, interleaved.
package final class RawFileOutput: ConsumingOutput, @unchecked Sendable {
    // Unchecked as its superclass; it adds no field.

    /// Writes to `path`, or with `%n` in it to one file for each `open`, numbered from 1.
    package init(path: String) {
        super.init(consumer: FileConsumer(pattern: path, container: .raw), threadName: "output-raw")
    }

    private init(consumer: FileConsumer) {
        super.init(consumer: consumer, threadName: "output-raw")
    }

    /// `raw:-`: samples on standard output, which stays open.
    package static func standardOutput() -> RawFileOutput {
        RawFileOutput(
            consumer: FileConsumer(
                pattern: "standard output",
                container: .raw,
                makeFile: { _ throws(MediaError) in
                    OutputFile(borrowing: STDOUT_FILENO, name: "standard output")
                }
            )
        )
    }
}
