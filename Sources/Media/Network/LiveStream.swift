/// What a live stream says of itself in the header fields of its answer (`icy-name`, `icy-br`, …).
package struct Station: Sendable, Equatable {
    /// What it calls itself.
    package var name: SafeText?
    /// Bytes of music per second, from `icy-br`; nil where it is not told.
    package var bytesPerSecond: Double?

    package init(name: SafeText? = nil, bytesPerSecond: Double? = nil) {
        self.name = name
        self.bytesPerSecond = bytesPerSecond
    }
}

/// A title that a live stream announced between its bytes.
package struct StreamTitle: Sendable, Equatable {
    /// The offset of the first byte of music behind it, counted from the start of the listening.
    package var offset: Int64
    /// Empty where the stream says that nothing has a title now.
    package var text: SafeText

    package init(offset: Int64, text: SafeText) {
        self.offset = offset
        self.text = text
    }
}

/// A live stream as the one who listens sees it.
package struct LiveReport: Sendable, Equatable {
    package var station: Station
    /// The titles announced so far, oldest first; at most the last 32.
    package var titles: [StreamTitle]
    /// The offset behind the last byte that was read. A read never goes beyond the place of a title that was
    /// not reached before.
    package var readTo: Int64

    package init(station: Station = Station(), titles: [StreamTitle] = [], readTo: Int64 = 0) {
        self.station = station
        self.titles = titles
        self.readTo = readTo
    }
}
