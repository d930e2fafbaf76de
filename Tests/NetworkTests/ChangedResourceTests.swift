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
            testDescription = name
            self.before = before
            self.after = after
            self.offset = offset
        }

        var longer: Change {
            var change = self
            change.isLonger = true
            return change
        }
    }

    static let tagged: [Fault] = [.etag("\"1\""), .lastModified(nil)]
    static let weak: [Fault] = [.etag("W/\"1\""), .lastModified(nil)]
    static let dated: [Fault] = [.etag(nil), .lastModified("Tue, 02 Jan 2024 00:00:00 GMT")]
    static let changes = [
        Change("a strong entity tag"),
        Change("a strong entity tag in a 200", [], [.ignoresRanges], readingAt: 300_000),
        Change("a tag, If-Range ignored", [.lastModified(nil)], [.lastModified(nil), .ignoresIfRange]),
        Change("a weak entity tag", weak, [.etag("W/\"2\""), .lastModified(nil)]),
        Change("a date", [.etag(nil)], dated),
        Change("a date, If-Range ignored", [.etag(nil)], dated + [.ignoresIfRange]),
        Change("the bytes of a longer file", [.noValidators], [.noValidators]).longer,
        Change("the bytes of a longer file with the same tag", tagged, tagged).longer,
        Change("the bytes alone", [.noValidators], [.noValidators]),
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
        #expect(reader.reader.report.stored == stored, "no byte of the new file is among the old ones")
        await chain.close(reader)
        let fresh = try await chain.open()
        #expect(try await chain.bytes(fresh) == bytes)
        try await chain.end()
        #expect(try await chain.claims(of: bytes).stored == ByteRangeSet(0..<Int64(bytes.count)))
        #expect(chain.notices.map(\.code) == [.resourceChanged])
        let conditions = chain.server.log.requests.compactMap(\.ifRange)
        #expect(!conditions.contains { $0.hasPrefix("W/") }, "a weak tag never goes into If-Range")
    }

    @Test(arguments: [tagged, [.noValidators]])
    func `a file that grows while it is read is read to its last byte, without a notice`(faults: [Fault])
        async throws
    {
        let (song, chain) = try await Chain.long(faults)
        let lengths = [3, 2, 1].map { Int(song.length) / $0 }
        chain.server.set(Array(song.bytes[..<lengths[0]]), at: "/song.mp3")
        let reader = try await chain.openWithFirstWindow()
        chain.server.set(Array(song.bytes[..<lengths[1]]), at: "/song.mp3")
        var bytes: [UInt8] = []
        while bytes.count < lengths[1] {
            bytes += try await reader.read(at: Int64(bytes.count), count: 65_536)
        }
        // The end that was known has been read by now.
        chain.server.set(song.bytes, at: "/song.mp3")
        bytes += try await chain.bytes(reader, from: Int64(bytes.count))
        #expect(bytes == song.bytes && chain.notices.isEmpty)
        try await chain.end()
        #expect(try await chain.claims(of: song.bytes).stored == ByteRangeSet(0..<song.length))
    }

    /// Reads from `offset` on, as a player does that opens the resource again when it has changed. `read` is
    /// called after each piece. Returns all bytes, and how often the resource had changed.
    private func readOn(
        _ chain: Chain,
        upTo end: Int = .max,
        read: (Int) -> Void = { _ in }
    ) async throws -> (bytes: [UInt8], changes: Int) {
        var bytes = [UInt8]()
        var changes = 0
        while changes < 10 {
            let reader = try await chain.open()
            do {
                while bytes.count < end {
                    let offset = Int64(bytes.count)
                    let more = try await chain.keepingTime {
                        try await reader.read(at: offset, count: 65_536)
                    }
                    if more.isEmpty { break }
                    bytes += more
                    read(bytes.count)
                }
                await chain.close(reader)
                return (bytes, changes)
            } catch let error as MediaError where error.code == .resourceChanged {
                changes += 1
                await chain.close(reader)
            }
        }
        return (bytes, changes)
    }

    @Test func `after two changes, validators are not trusted, and the bytes are compared instead`()
        async throws
    {
        let (song, chain) = try await Chain.long()
        let faults = (0..<200).map { [Fault.etag("\"\($0)\""), .lastModified(nil)] }
        chain.server.origin.script(faults, thenAlways: [], for: "/song.mp3")
        let reading = try await readOn(chain, upTo: 1_000_000)
        #expect(reading.changes == 2 && reading.bytes.elementsEqual(song.bytes.prefix(reading.bytes.count)))
        try await chain.end()

        // A day later, the cached bytes are still compared, rather than discarded.
        let stored = try await chain.claims(of: song.bytes).stored
        #expect(stored.contains(900_000))
        chain.server.log.reset()
        chain.server.origin.script(faults, thenAlways: [], for: "/song.mp3")
        let next = try Chain(server: chain.server, folder: chain.folder)
        let rest = try await readOn(next)
        #expect(rest.changes == 0 && rest.bytes == song.bytes && next.notices.isEmpty)
        let log = chain.server.log
        let again = stored.intersection(log.sentRanges(for: "/song.mp3")).byteCount
        #expect(again <= Int64(log.requests.count) * 4_096)
        try await next.end()
    }

    @Test func `a file of which every answer states other validators and a greater length is read on`()
        async throws
    {
        let (song, chain) = try await Chain.long()
        let step = 100_000
        chain.server.set(Array(song.bytes[..<step]), at: "/song.mp3")
        let reading = try await readOn(chain) { count in
            chain.server.set(Array(song.bytes.prefix(count + step)), at: "/song.mp3")
        }
        #expect(reading.bytes == song.bytes && reading.changes == 2)
        try await chain.end()
    }

    @Test func `a file whose bytes differ in every answer is another file every time`() async throws {
        let size = 2_000_000
        let chain = try Chain(["/song.mp3": [UInt8](repeating: 0, count: size)])
        let reading = try await readOn(chain) { count in
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: count / 10_000), count: size)
            chain.server.set(bytes, at: "/song.mp3")
        }
        #expect(reading.changes == 10)
        try await chain.end()
    }

    @Test(arguments: [false, true])
    func `without validators one window comes at a time, and the next reveals another file`(
        isChanged: Bool
    ) async throws {
        let (song, chain) = try await Chain.long([.noValidators])
        let reader = try await chain.openWithFirstWindow()
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesOfEach(100_000))
        reader.reader.allowReadAhead(bytesPerSecond: 40_000)
        // Of the window ahead, 128 KiB and the 4 KiB before, hardly anything is left: with validators the
        // next request would be under way.
        gate.letPass(34_000)
        try await wait(for: "most of the window") { reader.isStored(0..<195_000) }
        #expect(reader.reader.report.inFlight.count == 1 && chain.server.log.requests.count == 2)
        if isChanged { chain.server.set(song.bytes.map { ~$0 }, at: "/song.mp3") }
        gate.release()
        if isChanged {
            // Time moves only after that: a rest that is still on its way must not count as stalled.
            try await wait(for: "all of the window") { reader.isStored(0..<196_608) }
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

    @Test(arguments: [true, false])
    func `without validators, bytes of a far seek are cached once the gap before them is filled`(
        isFilled: Bool
    ) async throws {
        let (song, chain) = try await Chain.long([.noValidators])
        let reader = try await chain.openWithFirstWindow()
        _ = try await reader.read(at: 300_000, count: 1_000)
        try await wait(for: "the window of the jump") { reader.reader.report.inFlight.isEmpty }
        if isFilled {
            var offset = Int64(65_536)
            while offset < 300_000 {
                offset += Int64(try await reader.read(at: offset, count: 40_000).count)
            }
        }
        let stored = reader.reader.report.stored
        await chain.close(reader)
        #expect(chain.notices.isEmpty)
        #expect(chain.server.log.askedRanges().count { $0?.hasPrefix("bytes=61440-") == true } <= 1)
        try await chain.end()
        let kept = try await chain.claims(of: song.bytes).stored
        #expect(kept == (isFilled ? stored : ByteRangeSet(0..<65_536)))
    }

    @Test func `a file that was replaced before a far seek is noticed where the gap is filled`() async throws
    {
        let (song, chain) = try await Chain.long([.noValidators])
        let reader = try await chain.openWithFirstWindow()
        chain.server.set(song.bytes.map { ~$0 }, at: "/song.mp3")
        _ = try await reader.read(at: 300_000, count: 1_000)
        #expect(await chain.failure(reader, from: 60_000) == .resourceChanged)
        await chain.close(reader)
        #expect(chain.notices.map(\.code) == [.resourceChanged])
        try await chain.end()
        #expect(try await chain.claims(of: song.bytes).stored == ByteRangeSet())
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
