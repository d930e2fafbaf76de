/// How long a transfer may say nothing, on the injected clock. There is no limit on the whole of a
/// body that is wanted: a long track on a slow line is no failure.
package struct Timeouts: Sendable, Equatable {
    /// Look-up, TCP and TLS together. Three lost packets cost TCP 7 s, after which a listener has given up.
    package var connect = Duration.seconds(10)
    /// From the connection to the answer's whole head, interim answers included, however slowly it drips in.
    /// Longer than `connect`: a server may have to wake a disk
    /// or ask another server.
    package var firstByte = Duration.seconds(15)
    /// Between two pieces of a body while we take them. What is buffered lasts longer than a new
    /// connection needs.
    package var idle = Duration.seconds(10)
    /// For the whole body of a redirect, which is read only to keep the connection: a new one takes less.
    package var redirectBody = Duration.seconds(1)

    package init() {}

    /// The shortest of those that a transfer watches itself: whoever looks this often misses no deadline that was set meanwhile.
    var shortest: Duration { min(connect, firstByte, idle) }
}
