import Media
import TestSupport
import Testing

@testable import Playlists

/// The kinds of resources by what is known of them: the table that a new kind of list adds a row to.
@Suite
struct ResourceKindTests {
    /// A resource and its kind in each of the three places where one is asked for.
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var content: String
        /// Before anything is read, as for URLs and the entries of lists.
        var byName: Answer
        /// Of a local file.
        var ofFile: Answer
        /// Of a resource that is read as a list.
        var ofList: Answer

        var testDescription: String { "\(name): \(content.prefix(20))" }
    }

    enum Answer: Sendable, Equatable {
        case music
        case list(PlaylistFormat)
        case refused(SafeText)
    }

    private static let page: Answer = .refused("got a web page instead of a playlist")
    private static let xml: Answer = .refused("not a playlist (XML, but not XSPF)")
    private static let binary: Answer = .refused("not a playlist (binary data)")

    private static func row(
        _ name: String,
        _ content: String,
        _ byName: Answer,
        _ ofFile: Answer,
        _ ofList: Answer
    ) -> Row {
        Row(name: name, content: content, byName: byName, ofFile: ofFile, ofList: ofList)
    }

    static let rows: [Row] = [
        // Names alone: all of a list's names, those of music, and names that are neither.
        row("a.m3u", "x.mp3", .list(.m3u), .list(.m3u), .list(.m3u)),
        row("a.M3U8", "x.mp3", .list(.m3u), .list(.m3u), .list(.m3u)),
        row("a.b.xspf", "", .list(.xspf), .list(.xspf), .list(.xspf)),
        row(".pls", "", .list(.pls), .list(.pls), .list(.pls)),
        row("a.mp3", "x.mp3", .music, .music, .list(.m3u)),
        row("a.MPEG", "", .music, .music, .list(.m3u)),
        row("a.flac", "x.mp3", .music, .music, .list(.m3u)),
        row("words", "x.mp3", .music, .music, .list(.m3u)),
        row("m3u", "", .music, .music, .list(.m3u)),
        row("a.xm3u", "", .music, .music, .list(.m3u)),
        row("a.m3u9", "", .music, .music, .list(.m3u)),
        row("as", "", .music, .music, .list(.m3u)),
        // The first bytes decide about a file whose name says nothing, and about the format of each list.
        row("a", "#EXTM3U\nx", .music, .list(.m3u), .list(.m3u)),
        row("a", "\u{FEFF} #extm3u", .music, .list(.m3u), .list(.m3u)),
        row("a.txt", "#EXTINF:1,x", .music, .list(.m3u), .list(.m3u)),
        row("a", "\n[PLAYLIST]", .music, .list(.pls), .list(.pls)),
        row("a", "<?xml version='1.0'?><playlist>", .music, .list(.xspf), .list(.xspf)),
        row("a.m3u", "[playlist]\nFile1=x", .list(.m3u), .list(.m3u), .list(.pls)),
        row("a.pls", "<playlist>", .list(.pls), .list(.pls), .list(.xspf)),
        row("a.xspf", "#EXTM3U", .list(.xspf), .list(.xspf), .list(.m3u)),
        row("a.mp3", "#EXTM3U\nx", .music, .music, .list(.m3u)),
        // What is certainly no list is refused as one, and otherwise left to the decoder.
        row("a.m3u", "<!DOCTYPE html><p>", .list(.m3u), .list(.m3u), page),
        row("a", " <HTML>", .music, .music, page),
        row("a.m3u", "<?xml?><html>", .list(.m3u), .list(.m3u), page),
        row("a", "<rss></rss>", .music, .music, xml),
        row("a.pls", "ID3\u{3}\u{0}", .list(.pls), .list(.pls), binary),
        row("a", "\u{0}", .music, .music, binary),
        row("a", "x\u{7}", .music, .music, binary),
        row("a", "#EXTM3U\n\u{7}", .music, .list(.m3u), .list(.m3u)),
        row("a", "#EXTM3U\n\u{0}", .music, .music, binary),
    ]

    @Test(arguments: rows)
    func `the name and the first bytes decide about the kind`(row: Row) throws {
        let bytes = Array(row.content.utf8)
        #expect(Answer(ResourceKind.of(name: row.name)) == row.byName)
        let folder = try TemporaryFolder()
        #expect(Answer(try LocalFile.kind(of: folder.write(row.name, row.content))) == row.ofFile)
        // A list is read by what it is, whatever type its server states.
        for type in [nil, "audio/mpeg", "text/html", ResourceKind.folderType] {
            let kind = ResourceKind.of(contentType: type, firstBytes: bytes, name: row.name)
            #expect(Answer(ofList: kind) == row.ofList)
        }
    }

    @Test func `a folder is one whatever its name`() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.m3u/b.mp3")
        #expect(try LocalFile.kind(of: folder.path + "/a.m3u") == .folder)
    }
}

extension ResourceKindTests.Answer {
    /// Of a resource that is opened.
    fileprivate init(_ kind: ResourceKind) {
        self = if case .list(let format) = kind { .list(format) } else { .music }
    }

    /// Of a resource that is read as a list.
    fileprivate init(ofList kind: ResourceKind) {
        switch kind {
        case .list(let format): self = .list(format)
        case .unknown(notList: let reason?): self = .refused(reason)
        case .unknown, .music, .folder: self = .list(.m3u)
        }
    }
}
