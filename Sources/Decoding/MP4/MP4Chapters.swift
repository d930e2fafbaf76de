import Media

/// The chapters of MP4 files. Pure.
///
/// Nero's list `chpl` has them in one piece, next to the tags. QuickTime's text track has the starts in its
/// tables, but each title in a packet of its own, anywhere in the file.
enum MP4Chapters {
    /// The most bytes of a list that are read.
    static let longestList: Int64 = 128 << 10
    /// The most chapters of a list in the usual form, whose count has one byte. A list with as many may lack
    /// further ones.
    static let mostListed = 255
    /// The most bytes of a title that are read.
    static let longestText: Int64 = 1_024

    /// The chapters in the content of the box `chpl`, of which only the start may have been read.
    static func list(in content: [UInt8]) -> ChapterList {
        var reader = BigEndianReader(content, at: 4)
        // In version 1, mp4v2 writes a reserved byte and a count of four bytes; other programs write four
        // reserved bytes, which are 0, and a count of one byte. Both are read in the same way.
        if content.first == 1 { _ = reader.next(1) }
        guard let count = reader.next(content.first == 1 ? 4 : 1) else { return ChapterList() }
        var chapters: [Chapter] = []
        for _ in 0..<min(count, Int64(ChapterList.mostChapters)) {
            // In units of 100 ns.
            guard let high = reader.next(1), let time = reader.next(7), let length = reader.next(1),
                reader.remaining >= length
            else { break }
            let title = text(reader.take(Int(length)))
            if high == 0 { chapters.append(Chapter(start: .nanoseconds(time * 100), title: title)) }
        }
        return ChapterList(chapters)
    }

    /// The chapters of `track` without their titles, in a movie of `movieTimescale` units per second.
    static func untitled(of track: MP4Track, movieTimescale: Int64) -> [Chapter] {
        let delay = movieTimescale > 0 ? Duration(track.delay, per: movieTimescale) : .zero
        return track.starts.map { Chapter(start: delay + Duration($0, per: track.timescale), title: "") }
    }

    /// The title in a packet of a text track (QuickTime File Format, *Text sample data*): its length, then
    /// UTF-8, or UTF-16 with a byte order mark.
    static func title(of packet: ArraySlice<UInt8>) -> String {
        var reader = BigEndianReader(Array(packet))
        guard let length = reader.next(2) else { return "" }
        return text(reader.take(Int(length)))
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            return ID3Text.decode([1] + bytes)
        }
        return ID3Text.trimmed(LegacyText.string(bytes.prefix { $0 != 0 }))
    }
}

/// Reads the titles in a track of chapters, without making the listener wait.
///
/// Such tracks often have all titles in one place, and some have each one next to its music. So titles are
/// read once they are stored; if they lie in a few places, these are fetched while the music plays, at low
/// priority. Otherwise they appear as the music around them is loaded.
final class ChapterTitles {
    /// The most places that are fetched, and the bytes between two titles that are fetched with them.
    private static let mostFetched = 4
    private static let mostBetween: Int64 = 4 << 10
    private static let mostByteCount: Int64 = 64 << 10
    /// The most places that one call looks at.
    private static let mostLooks = 32

    /// Titles that lie close together, by the numbers of their chapters, from 0.
    private struct Place {
        var range: ByteRange
        var titles: [(chapter: Int, range: ByteRange)]
    }

    private var untitled: [Chapter]
    private let table: SampleTable
    private let bytes: HeldBytes
    private let source: any ByteSource
    /// The places whose titles were not read yet; `nil` before the tables were read.
    private var places: [Place]?
    private var hasFetched = (tables: false, titles: false)

    /// Titles for the chapters `untitled`, in the packets of `table`.
    init(_ untitled: [Chapter], _ table: SampleTable, _ bytes: HeldBytes, _ source: any ByteSource) {
        self.untitled = untitled
        self.table = table
        self.bytes = bytes
        self.source = source
    }

    var chapters: ChapterList { ChapterList(untitled) }

    /// Reads some of the titles that are stored. Returns `true` if it has read any: then more may be stored.
    /// With `fetching`, missing ones are fetched in the background. Never waits for the network.
    func readStored(fetching: Bool) async throws -> Bool {
        if places == nil { places = try await located(fetching: fetching) }
        guard var places else { return false }
        if fetching, !hasFetched.titles, places.count <= Self.mostFetched {
            for place in places where !source.isStored(place.range) { source.prefetch(place.range) }
            hasFetched.titles = true
        }
        let looked = places.prefix(Self.mostLooks)
        places.removeFirst(looked.count)
        var isNew = false
        for place in looked {
            guard source.isStored(place.range), let found = try await source.allStored(in: place.range) else {
                places.append(place)
                continue
            }
            isNew = true
            for (chapter, range) in place.titles {
                let start = Int(range.lowerBound - place.range.lowerBound)
                let title = MP4Chapters.title(of: found[start..<start + range.count])
                untitled[chapter] = Chapter(start: untitled[chapter].start, title: title)
            }
        }
        self.places = places
        return isNew
    }

    /// The places of the titles, from the tables of the track; `nil` while these are not stored.
    private func located(fetching: Bool) async throws -> [Place]? {
        let count = min(Int64(untitled.count), table.packetCount)
        // The first run of an intact table begins with the first chunk.
        guard table.isComplete, table.runs.first?.firstChunk == 0, let chunks = table.chunks else {
            return []
        }
        let sizes = table.fixedSize == 0 ? table.sizes?.slab(of: 0) : nil
        let tables = [chunks.slab(of: 0), sizes].compactMap { $0 }
        guard tables.allSatisfy(source.isStored) else {
            if fetching, !hasFetched.tables { tables.forEach(source.prefetch) }
            hasFetched.tables = hasFetched.tables || fetching
            return nil
        }
        guard let index = try await TableIndex(table, bytes) else { return [] }
        var places: [Place] = []
        for chapter in 0..<count {
            guard index.tables(for: chapter).allSatisfy(source.isStored),
                let packet = try await index.place(of: chapter), !packet.isEmpty
            else { break }
            let range = packet.first(MP4Chapters.longestText)
            if let last = places.last, range.lowerBound >= last.range.upperBound,
                range.lowerBound - last.range.upperBound <= Self.mostBetween,
                range.upperBound - last.range.lowerBound <= Self.mostByteCount
            {
                places[places.count - 1].range = last.range.lowerBound..<range.upperBound
                places[places.count - 1].titles.append((Int(chapter), range))
            } else {
                places.append(Place(range: range, titles: [(Int(chapter), range)]))
            }
        }
        return places
    }
}
