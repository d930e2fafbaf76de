import Media
import System

/// The lists of a recording (EXT-X-ENDLIST), or those of a live stream that was found instead.
enum StreamKind: Sendable {
    case recorded(RecordedLists)
    /// The answers of all lists but the first.
    case live([ResourceLocation: ListAnswer])
}

/// The lists of a recording, which lead to its segments. Its playlist may be long, so its text is not in
/// memory if it is cached.
struct RecordedLists: Sendable {
    /// How the lists are read.
    enum Way {
        /// From the cache, if they are there.
        case cached
        /// The same, for the rendition that is known, if one is.
        case known
        /// From the server, for the rendition that is known.
        case anew
    }

    /// Another rendition is to be played than the cached one; its stored form begins with these bytes.
    struct OtherRendition: Error {
        let rendition: [UInt8]
    }

    /// A list that was requested, and its place among those that lead to one another.
    struct Requested: Sendable {
        let level: Int
        let location: ResourceLocation
        let body: FetchedBody
    }

    /// The most lists that lead to one another.
    private static let mostMasters = 3
    /// The first bytes of a list, which show its kind.
    private static let headCount = 8_192
    /// The bytes of a list that are read at a time.
    private static let pieceCount = 256 << 10

    private(set) var playlist: MediaPlaylist
    /// Reads the text of the playlist.
    var text: any ByteSource
    /// The location that the playlist is requested from.
    let source: ResourceLocation
    /// The renditions that were chosen from master playlists, one after the other, to get there.
    let renditions: [RenditionChoice.Identity]
    /// EXT-X-START of the last master playlist that has it.
    private let startOffset: Duration?
    /// The lists that were requested.
    private(set) var requested: [Requested] = []
    /// The readers of cached lists, which are closed with the stream.
    var opened: [any ResourceReader] = []

    /// The number of master playlists that led to the playlist.
    var level: Int { renditions.count }

    var startTime: Duration { playlist.startTime(by: playlist.startOffset ?? startOffset) }

    /// What the cache needs to know.
    var table: StreamTable { playlist.table(rendition: RenditionChoice.Identity.bytes(of: renditions)) }

    // MARK: Reading

    /// Reads the lists from that of the stream on, which is at `location`. A master playlist leads to a media
    /// playlist. The cached rendition is chosen offline, if the lists are asked for again, and if `isKept`
    /// says so; otherwise the quality in `parts` decides.
    ///
    /// Throws `MediaError` if a list is damaged, or has no stream that is played, and `OtherRendition` if the
    /// quality leads to another rendition than the cached one.
    static func read(
        at location: ResourceLocation,
        _ parts: SegmentParts,
        _ readers: PartReaders,
        _ way: Way
    ) async throws -> StreamKind {
        let first = readers.list
        let known = first.stream.map { RenditionChoice.Identity.all(in: $0.rendition) }
        var isBound = way != .cached || parts.cache?.isOffline() == true
        if !isBound, known != nil { isBound = await parts.cache?.isKept() == true }
        var source = location
        var startOffset: Duration?
        var renditions: [RenditionChoice.Identity] = []
        var requested: [Requested] = []
        var opened: [any ResourceReader] = []
        var answers: [ResourceLocation: ListAnswer] = [:]
        do {
            for level in 0..<Self.mostMasters {
                var reader: (any ResourceReader)?
                if way != .anew, let known, known.starts(with: renditions) {
                    reader = try await parts.cache?.openStored(.list(level), source, first)
                }
                if let reader { opened.append(reader) }
                if way != .anew, level == 0, reader == nil { reader = first }
                let list: List
                let text: any ByteSource
                if let reader {
                    text = reader
                    list = try await Self.list(of: reader, at: source)
                } else {
                    let requestedAt = parts.clock.now
                    let body = try await parts.request(source, Validators())
                    readers.count(body)
                    let bytes = body.bytes ?? []
                    let place = place(of: body.answer.redirectedTo, from: source)
                    text = HeldSection(bytes)
                    list = try Self.list(bytes, at: place)
                    requested.append(Requested(level: level, location: source, body: body))
                    answers[source] = ListAnswer(
                        text: bytes,
                        place: place,
                        source: source,
                        validators: body.answer.validators,
                        requestedAt: requestedAt
                    )
                }
                switch list {
                case .media(let playlist) where playlist.isEnded:
                    var lists = RecordedLists(
                        playlist: playlist,
                        text: text,
                        source: source,
                        renditions: renditions,
                        startOffset: startOffset
                    )
                    lists.requested = requested
                    lists.opened = opened
                    return .recorded(lists)
                case .media:
                    for reader in opened { await reader.close() }
                    return .live(answers)
                case .master(let master):
                    startOffset = master.startOffset ?? startOffset
                    let before = known.flatMap { isBound && level < $0.count ? $0[level] : nil }
                    let choice =
                        try before.flatMap { master.choice(like: $0) }
                        ?? master.choice(quality: parts.quality, playing: parts.played)
                    renditions.append(choice.identity)
                    if way == .cached, known?.starts(with: renditions) == false {
                        throw OtherRendition(rendition: RenditionChoice.Identity.bytes(of: renditions))
                    }
                    source = choice.location
                }
            }
            throw MediaError(.badPlaylist, location.safeText, "HLS master playlists lead to one another")
        } catch {
            for reader in opened { await reader.close() }
            throw error
        }
    }

    /// Requests the playlist again, from where it was; `nil` if it is no recording any more.
    func requestedAgain(_ parts: SegmentParts, _ readers: PartReaders) async throws -> RecordedLists? {
        let body = try await parts.request(source, Validators())
        readers.count(body)
        let bytes = body.bytes ?? []
        let list = try Self.list(bytes, at: Self.place(of: body.answer.redirectedTo, from: source))
        guard case .media(let playlist) = list, playlist.isEnded else { return nil }
        var lists = self
        lists.playlist = playlist
        lists.text = HeldSection(bytes)
        lists.requested = [Requested(level: level, location: source, body: body)]
        lists.opened = []
        return lists
    }

    private enum List {
        case media(MediaPlaylist)
        case master(MasterPlaylist)
    }

    private static func list(_ text: [UInt8], at place: ResourceLocation) throws(MediaError) -> List {
        guard text.withUnsafeBufferPointer({ HLSPlaylistKind.of($0) }) == .master else {
            var parser = MediaPlaylistParser(location: place)
            try parser.feed(text)
            return .media(try parser.finish())
        }
        return .master(try MasterPlaylist(text, location: place))
    }

    /// Reads a list in pieces.
    private static func list(of reader: any ResourceReader, at source: ResourceLocation) async throws -> List
    {
        var head: [UInt8] = []
        while head.count < Self.headCount,
            case let more = try await reader.piece(at: Int64(head.count), Self.pieceCount), !more.isEmpty
        {
            head += more
        }
        // Known only once the list was answered.
        let place = place(of: reader.report.redirectedTo, from: source)
        if head.withUnsafeBufferPointer({ HLSPlaylistKind.of($0) }) == .master {
            let text = try await reader.allBytes(atMost: MasterPlaylist.mostBytes, of: source.safeText)
            return .master(try MasterPlaylist(text, location: place))
        }
        var parser = MediaPlaylistParser(location: place)
        try parser.feed(head)
        var offset = Int64(head.count)
        while case let more = try await reader.piece(at: offset, pieceCount), !more.isEmpty {
            try parser.feed(more)
            offset += Int64(more.count)
        }
        return .media(try parser.finish())
    }

    /// `target`, to which `location` was redirected, with the user's password for its server.
    static func place(of target: WebURL?, from location: ResourceLocation) -> ResourceLocation {
        guard let target else { return location }
        return .web(location.url?.resolving(target.requestString) ?? target)
    }

    // MARK: Segments

    /// Segment `number`; `nil` behind the last one.
    func segment(_ number: Int) async throws -> MediaSegment? {
        guard number < playlist.count else { return nil }
        var pieces: [ByteRange: [UInt8]] = [:]
        for range in playlist.textRanges(of: number) where pieces[range] == nil {
            pieces[range] = try await ByteSlice(text, range).allBytes(
                atMost: range.count,
                of: source.safeText
            )
        }
        return try playlist.segment(number) { pieces[$0] ?? [] }
    }
}

extension RenditionChoice.Identity {
    /// The form of `identities` that the cache stores.
    static func bytes(of identities: [Self]) -> [UInt8] {
        var values = ValueList()
        for identity in identities { values.append(identity.bytes) }
        return values.bytes
    }

    /// The identities in a stored form, as far as they are valid.
    static func all(in bytes: [UInt8]) -> [Self] {
        var identities: [Self] = []
        guard let values = ValueList(bytes[...]) else { return [] }
        while let next = values[identities.count].flatMap({ Self(bytes: Array($0)) }) {
            identities.append(next)
        }
        return identities
    }

    private var bytes: [UInt8] {
        var values = ValueList()
        for text in [groupID, name, language, codecs] { values.append(text) }
        values.append(Int64(rank).bigEndianBytes)
        return values.bytes
    }

    private init?(bytes: [UInt8]) {
        guard let values = ValueList(bytes[...]), let groupID = values.text(0), let name = values.text(1),
            let language = values.text(2), let codecs = values.text(3), let rank = values.number(4)
        else { return nil }
        self.init(
            groupID: groupID,
            name: name,
            language: language,
            codecs: codecs,
            rank: Int(clamping: rank)
        )
    }
}

extension ByteSource {
    /// Up to `count` bytes at `offset`; empty at the end.
    fileprivate func piece(at offset: Int64, _ count: Int) async throws -> [UInt8] {
        willRead(offset..<offset + Int64(ByteSlice.requestByteCount))
        return try await read(at: offset, count: count)
    }
}
