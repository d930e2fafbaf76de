import Media
import Testing

@testable import Segments

/// A media playlist with its text, of which a caller would store the bytes.
struct StoredPlaylist {
    var playlist: MediaPlaylist
    let bytes: [UInt8]

    /// Parses `text`, in pieces of `piece` bytes.
    init(_ text: String, at location: ResourceLocation = listLocation, piece: Int = .max) throws(MediaError) {
        try self.init(Array(text.utf8), at: location, piece: piece)
    }

    init(_ bytes: [UInt8], at location: ResourceLocation = listLocation, piece: Int = .max) throws(MediaError)
    {
        var parser = MediaPlaylistParser(location: location)
        var start = 0
        while start < bytes.count {
            let end = piece < bytes.count - start ? start + piece : bytes.count
            try parser.feed(Array(bytes[start..<end]))
            start = end
        }
        playlist = try parser.finish()
        self.bytes = bytes
    }

    func segment(_ index: Int) throws(MediaError) -> MediaSegment {
        try playlist.segment(index) { bytes in self.read(bytes) }
    }

    func read(_ range: ByteRange) -> [UInt8] {
        #expect(range.count <= 2 * ListLines.longest)
        return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }

    var segments: [MediaSegment] {
        get throws { try (0..<playlist.count).map { try segment($0) } }
    }
}

let listLocation = web("http://h/a/list.m3u8")

func web(_ url: String) -> ResourceLocation {
    WebURL(url).map { .web($0) } ?? .file("not a URL: \(url)")
}

/// The error that `body` throws; `nil` if it throws none.
func failure(_ body: () throws(MediaError) -> Void) -> MediaError? {
    do throws(MediaError) {
        try body()
        return nil
    } catch {
        return error
    }
}

/// A media playlist of equal segments.
func list(
    _ sequence: Int64,
    count: Int,
    seconds: String = "4",
    target: Int = 4,
    tags: String = "",
    before: [Int: String] = [:],
    isEnded: Bool = false
) throws(MediaError) -> StoredPlaylist {
    var text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-MEDIA-SEQUENCE:\(sequence)\n\(tags)"
    for index in 0..<count {
        let number = sequence + Int64(index)
        text += (before[Int(number)].map { $0 + "\n" } ?? "") + "#EXTINF:\(seconds),\n\(number).ts\n"
    }
    return try StoredPlaylist(text + (isEnded ? "#EXT-X-ENDLIST\n" : ""))
}
