internal import Media

/// Separates the music of a live stream from the titles in it.
///
/// After each `interval` bytes of music comes a byte that counts blocks of 16 bytes, and then these blocks:
/// `StreamTitle='…';` padded with zeros. Mostly the count is 0. There is no standard; SHOUTcast introduced
/// this and Icecast documents it. The result does not depend on how the stream is divided into pieces.
struct ICYSplitter {
    /// Music, and the title directly before it.
    struct Piece: Equatable, Sendable {
        /// `nil` if the title has not changed.
        var title: SafeText?
        /// The bytes of music; never empty.
        var music: [UInt8]
    }

    private enum State {
        /// In the music; `left` bytes of it are still to come, at least 1.
        case inMusic(left: Int64)
        case atCount
        /// In a block of `count` bytes, at most 4,080; `block` has those that have arrived.
        case inBlock(count: Int)
    }

    private let interval: Int64
    private var state: State
    private var block: [UInt8] = []
    private var lastTitle: SafeText?
    /// The title for the music that comes next.
    private var nextTitle: SafeText?
    /// Pieces that were split but not taken yet.
    private var pieces: ArraySlice<Piece> = []
    /// The title of the music taken last, until `takeTitle` returns it.
    private var takenTitle: SafeText?

    /// `interval` is in bytes, at least 1, and may exceed the length of any stream.
    init(interval: Int64) {
        precondition(interval > 0, "a stream without titles needs no splitter")
        self.interval = interval
        state = .inMusic(left: interval)
    }

    /// Adds the next bytes of the stream.
    mutating func append(_ bytes: [UInt8]) { pieces += split(bytes) }

    /// The next piece of music; `nil` if there is none yet. Afterwards `takeTitle` returns its title.
    mutating func takeMusic() -> [UInt8]? {
        guard let piece = pieces.popFirst() else { return nil }
        if let title = piece.title { takenTitle = title }
        return piece.music
    }

    /// The newest title before the music taken so far; `nil` if there was none since the last call.
    mutating func takeTitle() -> SafeText? { takenTitle.take() }

    /// Splits the next bytes of the stream: returns the music in them, divided at each new title.
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

    /// Some stations repeat their title in every block: only a changed title counts.
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

/// The metadata text in a live stream: `StreamTitle='Artist - Title';StreamUrl='…';`.
enum ICYTitle {
    /// The title in `block`, which is padded with zeros; empty if the station states that there is none,
    /// `nil` if the block has no title.
    ///
    /// Stations do not escape quotes, so the title extends to the first `';` that is followed by the end or
    /// by another `Name=`, as `adw_ad='true'`. So `It's a man's; world` is parsed correctly.
    static func parse(_ block: [UInt8]) -> SafeText? {
        let text = block.prefix { $0 != 0 }
        guard let start = start(in: text) else { return nil }
        let rest = text[start...]
        var end = rest.endIndex
        for index in rest.indices where isEnd(rest[index...]) {
            end = index
            break
        }
        return SafeText(ResponseHead.trimmed(LegacyText.string(rest[..<end])))
    }

    /// The index after the title's opening quote.
    private static func start(in text: ArraySlice<UInt8>) -> Int? {
        let mark = Array("streamtitle='".utf8)
        return text.indices.first { index in
            text[index...].count >= mark.count
                && zip(text[index...], mark).allSatisfy { ($0 | 0x20) == $1 || $0 == $1 }
        }.map { $0 + mark.count }
    }

    /// `true` if `rest` begins with the title's closing quote.
    private static func isEnd(_ rest: ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: "'") else { return false }
        var behind = rest.dropFirst()
        // Some stations omit the last semicolon or truncate the block before it.
        guard !behind.isEmpty else { return true }
        guard behind.removeFirst() == UInt8(ascii: ";") else { return false }
        behind = behind.drop { $0 == UInt8(ascii: " ") }
        guard !behind.isEmpty else { return true }
        let name = behind.prefix { $0.isLetter || $0.isDigit || "_-".utf8.contains($0) }
        return !name.isEmpty && behind.dropFirst(name.count).first == UInt8(ascii: "=")
    }
}
