internal import Media

/// Parts the music of a live stream from the titles between it.
///
/// After each `interval` bytes of music comes a byte that counts blocks of 16 bytes, and then these blocks:
/// `StreamTitle='…';` padded with zeros, mostly none at all. There is no standard; this is what SHOUTcast
/// began and Icecast documents. Where the pieces from the line are cut makes no difference to the result.
struct ICYSplitter {
    /// Music with the title that stood right before it.
    struct Piece: Equatable, Sendable {
        /// Nil where the title is the one before.
        var title: SafeText?
        /// Never empty.
        var music: [UInt8]
    }

    private enum State {
        /// In the music, with this many bytes of it to come; at least 1.
        case inMusic(left: Int64)
        case atCount
        /// In a block of this many bytes in all, those that came gathered in `block`; at most 4,080.
        case inBlock(count: Int)
    }

    private let interval: Int64
    private var state: State
    private var block: [UInt8] = []
    private var lastTitle: SafeText?
    /// Stands before the music that comes next.
    private var nextTitle: SafeText?

    /// `interval` is in bytes, at least 1, and may be larger than any stream is long.
    init(interval: Int64) {
        precondition(interval > 0, "a stream without titles needs no splitter")
        self.interval = interval
        state = .inMusic(left: interval)
    }

    /// Takes the next bytes of the stream and returns the music in them, cut where a new title stands.
    mutating func split(_ bytes: [UInt8]) -> [Piece] {
        var pieces: [Piece] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            switch state {
            case .inMusic(let left):
                let count = Int(min(left, Int64(rest.count)))
                append(rest.prefix(count), to: &pieces)
                rest = rest.dropFirst(count)
                state = left > Int64(count) ? .inMusic(left: left - Int64(count)) : .atCount
            case .atCount:
                let count = Int(rest.removeFirst()) * 16
                state = count > 0 ? .inBlock(count: count) : .inMusic(left: interval)
            case .inBlock(let count):
                let more = rest.prefix(count - block.count)
                block += more
                rest = rest.dropFirst(more.count)
                guard block.count == count else { break }
                announce(ICYTitle.parse(block))
                block = []
                state = .inMusic(left: interval)
            }
        }
        return pieces
    }

    /// Some stations repeat their title in every block: only a new one is news.
    private mutating func announce(_ title: SafeText?) {
        guard let title, title != lastTitle else { return }
        lastTitle = title
        nextTitle = title
    }

    private mutating func append(_ music: ArraySlice<UInt8>, to pieces: inout [Piece]) {
        if let last = pieces.indices.last, nextTitle == nil {
            pieces[last].music += music
        } else {
            pieces.append(Piece(title: nextTitle, music: Array(music)))
            nextTitle = nil
        }
    }
}
