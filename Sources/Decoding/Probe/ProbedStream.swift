package import Media

/// The input of a decoder: a resource, and its first bytes, which were read to determine its kind.
package struct ProbedStream {
    package var source: any ByteSource
    /// The tags in front of the music, and the first bytes after them; a decoder does not read them again.
    package var start: StreamStart
    /// Names the resource in errors.
    package var subject: SafeText
    /// The seek table of an earlier decoder of the resource; empty if there is none. It is untrusted: a
    /// decoder checks it.
    package var seekTable: [UInt8]
    /// The duration that a playlist or feed states; `nil` if none does. It may be wrong.
    package var statedDuration: Duration?

    /// Creates the input for `source`, of which `head`, its first bytes, were already read.
    package init(source: any ByteSource, head: [UInt8] = [], subject: SafeText, seekTable: [UInt8] = []) {
        self.source = source
        start = StreamStart(of: source, holding: head)
        self.subject = subject
        self.seekTable = seekTable
    }
}
