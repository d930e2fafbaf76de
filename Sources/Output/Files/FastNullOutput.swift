import Media

/// `null:fast`: every frame is thrown away as soon as it is there.
package final class FastNullOutput: ConsumingOutput, @unchecked Sendable {
    // Unchecked as its superclass; it adds no field.
    package init() { super.init(consumer: NothingConsumer(), threadName: "output-null") }
}

private final class NothingConsumer: FrameConsumer {
    let opensEachTrack = false

    func connect() throws(MediaError) {}
    func begin(_ format: AudioFormat) throws(MediaError) {}
    func consume(_ bytes: UnsafeRawBufferPointer, until interruption: Interruption) throws(MediaError) -> Int
    {
        bytes.count
    }
    func end() {}
}
