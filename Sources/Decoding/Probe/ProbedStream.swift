package import Media

/// The input of a decoder: a resource, and the first bytes of it that were read to determine its kind.
package struct ProbedStream {
    package var source: any ByteSource
    /// The bytes read from the start of the source; a decoder uses them instead of reading them again.
    package var head: [UInt8]
    /// Names the resource in errors.
    package var subject: SafeText
    /// The seek table of an earlier decoder of the resource; empty if there is none. It is untrusted: a
    /// decoder checks it.
    package var seekTable: [UInt8]

    package init(source: any ByteSource, head: [UInt8] = [], subject: SafeText, seekTable: [UInt8] = []) {
        self.source = source
        self.head = head
        self.subject = subject
        self.seekTable = seekTable
    }
}
