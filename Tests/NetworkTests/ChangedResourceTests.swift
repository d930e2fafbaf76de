import Media
import RepriseOrigin
import TestSupport
import Testing

/// The file on the server is replaced while it is read.
@Suite struct ChangedResourceTests {
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before: [Fault]
        var after: [Fault]
        /// The offset of the read that follows the change.
        var offset: Int64
        var isLonger = false

        init(_ name: String, _ before: [Fault] = [], _ after: [Fault] = [], readingAt offset: Int64 = 60_000)
        {
            (testDescription, self.before, self.after, self.offset) = (name, before, after, offset)
        }

        var longer: Change {
            var change = self
            change.isLonger = true
            return change
        }
    }

    static let weak: [Fault] = [.etag("W/\"1\""), .lastModified(nil)]
    static let dated: [Fault] = [.etag(nil), .lastModified("Tue, 02 Jan 2024 00:00:00 GMT")]
    static let unmarked: [Fault] = [.noValidators, .ignoresIfRange]
    static let changes = [
        Change("a strong entity tag"),
        Change("a strong entity tag in a 200", [], [.ignoresRanges], readingAt: 300_000),
        Change("a tag, If-Range ignored", [.lastModified(nil)], [.lastModified(nil), .ignoresIfRange]),
        Change("a weak entity tag", weak, [.etag("W/\"2\""), .lastModified(nil)]),
        Change("a date", [.etag(nil)], dated),
        Change("a date, If-Range ignored", [.etag(nil)], dated + [.ignoresIfRange]),
        Change("the length alone", [.noValidators], [.noValidators]).longer,
        Change("the bytes alone", [.noValidators], [.noValidators]),
        Change("lost validators, after a far seek", [], unmarked, readingAt: 300_000),
        Change("the bytes alone, after a far seek", [.noValidators], unmarked, readingAt: 300_000),
    ]

    @Test(arguments: changes)
    func `a change ends the reads, and the next open plays the new file alone`(change: Change) async throws {
        let old = try await Song.short()
        let new = try await Song.short(seed: 2)
        #expect(old.length == new.length)
        let chain = try Chain(["/song.mp3": old.bytes], faults: change.before)
        let bytes = change.isLonger ? new.bytes + new.bytes.suffix(5_000) : new.bytes
        let reader = try await chain.openWithFirstWindow()
        let stored = reader.reader.report.stored
        chain.server.set(bytes, at: "/song.mp3")
        chain.server.origin.setFaults(change.after, for: "/song.mp3")
        #expect(await chain.failure(reader, from: change.offset) == .resourceChanged)
        // An open reader continues with the old bytes.
        let again = try await reader.read(at: 0, count: 1_000)
        #expect(again.elementsEqual(old.bytes[..<again.count]))
        if change.after != Self.unmarked {
            #expect(reader.reader.report.stored == stored, "no byte of the new file is among the old ones")
        }
        await chain.close(reader)
        let fresh = try await chain.open()
        #expect(try await chain.bytes(fresh) == bytes)
        try await chain.end()
        #expect(try await chain.claims(of: bytes).stored == ByteRangeSet(0..<Int64(bytes.count)))
        #expect(chain.notices.map(\.code) == [.resourceChanged])
        let conditions = chain.server.log.requests.compactMap(\.ifRange)
        #expect(!conditions.contains { $0.hasPrefix("W/") }, "a weak tag never goes into If-Range")
    }

    @Test(arguments: [false, true])
    func `without validators one window comes at a time, and the next reveals another file`(
        isChanged: Bool
    ) async throws {
        let (song, chain) = try await Chain.long([.noValidators])
        let reader = try await chain.openWithFirstWindow()
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesOfEach(100_000))
        reader.reader.allowReadAhead(bytesPerSecond: 40_000)
        // Of the window ahead, 128 KiB and the 4 KiB before, hardly anything is left: with validators the next
        // request would be under way.
        gate.letPass(34_000)
        try await wait(for: "most of the window") { reader.isStored(0..<195_000) }
        #expect(reader.reader.report.inFlight.count == 1 && chain.server.log.requests.count == 2)
        if isChanged { chain.server.set(song.bytes.map { ~$0 }, at: "/song.mp3") }
        gate.release()
        if isChanged {
            #expect(await chain.failure(reader) == .resourceChanged)
            #expect(reader.reader.report.stored == ByteRangeSet(0..<196_608))
            try await wait(for: "the notice") { chain.notices.map(\.code) == [.resourceChanged] }
        } else {
            #expect(try await chain.bytes(reader) == song.bytes)
            #expect(chain.notices.isEmpty)
            let compared = Int64(chain.server.log.requests.count) * 4_096
            #expect(chain.server.log.bytesSent <= song.length + compared)
        }
        try await chain.end()
    }

    @Test func `a far seek in an unchanged file without validators costs one comparison, once`() async throws
    {
        let (song, chain) = try await Chain.long([.noValidators])
        let reader = try await chain.openWithFirstWindow()
        #expect(try await chain.bytes(reader, from: 300_000).elementsEqual(song.bytes[300_000...]))
        await chain.close(reader)
        let asked = chain.server.log.askedRanges().compactMap { $0 }
        #expect(asked[0] == "bytes=0-65535" && asked[1].hasPrefix("bytes=300000-"), "the read comes first")
        #expect(asked.filter { $0.hasPrefix("bytes=61440-") }.count == 1, "\(asked)")
        #expect(chain.notices.isEmpty)
        try await chain.end()
    }

    @Test(arguments: [[Fault.noValidators], weak, [.etag(nil)], []])
    func `a file that stays the same is resumed a day later`(faults: [Fault]) async throws {
        let (song, chain) = try await Chain.short(faults)
        let reader = try await chain.open()
        _ = try await reader.read(at: 200_000, count: 1_000)
        try await chain.end()
        let stored = try await chain.claims(of: song.bytes).stored
        #expect(!stored.isEmpty)
        chain.server.log.reset()
        let next = try Chain(server: chain.server, folder: chain.folder)
        let playing = try await next.play()
        #expect(playing.isAll(of: song))
        // Stored bytes are requested again only for comparison, at most 4 KiB per request.
        let log = chain.server.log
        let again = Int64(stored.intersection(log.sentRanges(for: "/song.mp3")).byteCount)
        let compared = faults.contains(.noValidators) ? Int64(log.requests.count) * 4_096 : 0
        #expect(again <= compared)
        #expect(next.notices.isEmpty)
        try await next.end()
    }

    @Test(arguments: [[Fault.status(500)], [.status(404)], [.htmlPage], [.silence]])
    func `a failed request invalidates nothing`(faults: [Fault]) async throws {
        let (song, chain) = try await Chain.short()
        let reader = try await chain.openWithFirstWindow()
        let stored = reader.reader.report.stored
        chain.server.origin.setFaults(faults, for: "/song.mp3")
        #expect(await chain.failure(reader, from: 60_000) != nil)
        await chain.close(reader)
        chain.server.origin.setFaults([], for: "/song.mp3")
        chain.server.log.reset()
        #expect(try await chain.play().isAll(of: song))
        #expect(stored.intersection(chain.server.log.sentRanges(for: "/song.mp3")).isEmpty)
        #expect(chain.notices.isEmpty)
        try await chain.end()
    }
}
