/// A live stream's header fields (`icy-name`, `icy-br`, …).
package struct Station: Sendable, Equatable {
    /// The name of the station, from `icy-name`.
    package var name: SafeText?
    /// Bytes of music per second, from `icy-br`; `nil` if the server does not send that field.
    package var bytesPerSecond: Double?

    package init(name: SafeText? = nil, bytesPerSecond: Double? = nil) {
        self.name = name
        self.bytesPerSecond = bytesPerSecond
    }
}

/// A title that a live stream announced between its bytes.
package struct StreamTitle: Sendable, Equatable {
    /// The offset of the first byte of music after the title, counted from the first byte received.
    package var offset: Int64
    /// Empty if the stream announces that there is no title now.
    package var text: SafeText

    package init(offset: Int64, text: SafeText) {
        self.offset = offset
        self.text = text
    }
}

/// The state of a live stream, for display.
package struct LiveReport: Sendable, Equatable {
    package var station: Station
    /// The titles announced so far, oldest first; at most the last 32.
    package var titles: [StreamTitle]
    /// How many connections after the first one have brought bytes.
    package var reconnections: Int
    /// The offset after the last byte that was read. A read ends at the offset of the next title that was not
    /// reached before.
    package var readTo: Int64

    package init(
        station: Station = Station(),
        titles: [StreamTitle] = [],
        reconnections: Int = 0,
        readTo: Int64 = 0
    ) {
        self.station = station
        self.titles = titles
        self.reconnections = reconnections
        self.readTo = readTo
    }
}
