import Media
import TestSupport
import Testing

@testable import Decoding

@Suite struct SeekTableTests {
    private let length: Int64 = 1 << 30

    private func key(origin: Int64 = 1_000, raw: UInt32 = 0xFFFB_9000) throws -> SeekTableKey {
        SeekTableKey(header: try #require(FrameHeader(raw)), origin: origin, length: length)
    }

    private func table(seed: UInt64) -> SeekTable {
        var random = SeededGenerator(seed: seed)
        var table = SeekTable()
        var offset: Int64 = 0
        for point in 0..<400 as Range<Int64> {
            if point / 50 % 2 == 0 || seed % 2 == 0 { table.record(frame: point * 8, at: offset) }
            offset += Int64.random(in: 800...8_000, using: &random)
        }
        return table
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a stored table is restored, holes included`(seed: UInt64) throws {
        var table = table(seed: seed)
        if seed % 3 == 0 { table.frameCount = 3_205 }
        let stored = table.stored(for: try key())
        let restored = try #require(SeekTable(stored: stored, for: try key()))
        for frame in 0..<3_300 as Range<Int64> {
            #expect(restored.offset(ofFrame: frame) == table.offset(ofFrame: frame))
        }
        #expect(restored.frameCount == table.frameCount)
    }

    @Test func `a table takes at most 0.5 % of the audio at every constant rate`() throws {
        for version in [0, 2, 3] as [UInt32] {
            for rate in 1..<15 as Range<UInt32> {
                for frequency in 0..<3 as Range<UInt32> {
                    let raw = 0xFFE3_0000 | version << 19 | rate << 12 | frequency << 10
                    let header = try #require(FrameHeader(raw))
                    let constant = try #require(ConstantRate(header))
                    var table = SeekTable()
                    let frames: Int64 = 8_000
                    for frame in stride(from: 0, to: frames, by: 8) {
                        table.record(frame: frame, at: constant.offset(ofFrame: frame))
                    }
                    let bytes = constant.offset(ofFrame: frames)
                    let stored = table.stored(for: SeekTableKey(header: header, origin: 600_000, length: nil))
                    #expect(Int64(stored.count) * 200 <= bytes, "\(header)")
                }
            }
        }
    }

    @Test func `a table of another stream is refused`() throws {
        let stored = table(seed: 0).stored(for: try key())
        var short = try key()
        short.length = 2_000
        for other in [try key(origin: 1_001), try key(raw: 0xFFFB_9400), try key(raw: 0xFFF3_9000), short] {
            #expect(SeekTable(stored: stored, for: other) == nil)
        }
        #expect(SeekTable(stored: [], for: try key()) == nil)
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `a damaged table is refused`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var stored = table(seed: 0).stored(for: try key())
        if seed % 2 == 0 {
            let place = Int.random(in: 0..<stored.count, using: &random)
            stored[place] ^= UInt8.random(in: 1...255, using: &random)
        } else {
            stored.removeLast(Int.random(in: 1...stored.count, using: &random))
        }
        #expect(SeekTable(stored: stored, for: try key()) == nil)
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `hostile content with a right checksum neither crashes nor fills the memory`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // The magic number and the check of the key.
        var content = Array(table(seed: 0).stored(for: try key()).prefix(12))
        let count = Int.random(in: 0...60, using: &random)
        content += (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        guard let table = SeekTable(stored: checked(content), for: try key()) else { return }
        // The accepted offsets rise and stay within the resource.
        var last: Int64 = -1
        var frame: Int64 = -1
        while let next = table.point(after: frame) {
            #expect(next.offset > last && next.offset < length)
            (frame, last) = next
        }
    }

    @Test func `no table, forged or grown, holds more than 8 MiB of offsets`() throws {
        var table = SeekTable()
        table.record(frame: Int64(1 << 20) * SeekTable.stride, at: 1 << 30)
        #expect(table.isEmpty && table.offsets.isEmpty)
        table.record(frame: Int64(1 << 20 - 1) * SeekTable.stride, at: 1 << 30)
        #expect(table.offsets.count * MemoryLayout<Int64>.size == 8 << 20)
    }

    @Test(arguments: [Int64(SeekTable.mostPoints) * SeekTable.stride + 1, 1 << 53, .max - 1] as [Int64])
    func `a table with too many frames is refused`(count: Int64) async throws {
        let source = MemorySource(Fixture.bareCBR.bytes)
        let key = try await key(of: source)
        let most = Int64(SeekTable.mostPoints) * SeekTable.stride
        #expect(SeekTable(stored: hostile(frameCount: most, offset: 0, key), for: key)?.frameCount == most)
        let stored = hostile(frameCount: count, offset: 0, key)
        #expect(SeekTable(stored: stored, for: key) == nil)
        let decoder = try await MPEGDecoder(source: source, seekTable: stored).opened()
        #expect(try #require(decoder.info.duration) < .seconds(30))
    }

    @Test(arguments: [1 << 41, 1 << 62, .max - 70_000] as [Int64])
    func `offsets beyond any file are refused if the length is unknown`(offset: Int64) throws {
        var key = try key()
        key.length = nil
        #expect(SeekTable(stored: hostile(frameCount: nil, offset: 1 << 33, key), for: key) != nil)
        #expect(SeekTable(stored: hostile(frameCount: nil, offset: offset, key), for: key) == nil)
        key.length = .max
        #expect(SeekTable(stored: hostile(frameCount: nil, offset: offset, key), for: key) == nil)
    }

    /// The key that a stored table of the music in `source` must have.
    private func key(of source: MemorySource) async throws -> SeekTableKey {
        let decoder = try await MPEGDecoder(source: source).opened()
        return try #require(decoder.opened).map.key(length: source.length)
    }

    /// A table with a right check that knows frame 0 and, unless `offset` is 0, frame 8 to begin there.
    private func hostile(frameCount: Int64?, offset: Int64, _ key: SeekTableKey) -> [UInt8] {
        // A larger number can't be written.
        let second = StoredPlaces.Place(position: 8, offset: min(offset, 1 << 60))
        let places = [StoredPlaces.Place(position: 0, offset: 0)] + (offset == 0 ? [] : [second])
        return StoredPlaces(places, adding: [(frameCount ?? -1) + 1]).bytes(for: key.numbers)
    }

    @Test(arguments: ["RST\u{2}", "RPL\u{1}"])
    func `a table in an older form is ignored and made again`(mark: String) async throws {
        let first = MPEGDecoder(Fixture.bareVBR.bytes)
        _ = try await decodeRest(first)
        let older = checked(Array(mark.utf8) + first.seekTable().dropFirst(4).dropLast(8))
        let second = MPEGDecoder(source: MemorySource(Fixture.bareVBR.bytes), seekTable: older)
        try await second.open()
        #expect(!second.info.isDurationExact)
        _ = try await decodeRest(second)
        #expect(second.seekTable() == first.seekTable())
    }

    @Test func `priming covers frames and reservoir, and fails at a hole`() throws {
        let header = try #require(FrameHeader(0xFFFB_1000))
        var table = SeekTable()
        // Frames of 104 bytes, 66 of them main data: eight hold a reservoir of 511.
        for point in 0..<10 as Range<Int64> { table.record(frame: point * 8, at: point * 8 * 104) }
        #expect(try #require(table.primingPoint(forFrame: 50, like: header)).frame == 40)
        #expect(try #require(table.primingPoint(forFrame: 3, like: header)).frame == 0)
        #expect(table.primingPoint(forFrame: 130, like: header) == nil)
        var holed = SeekTable()
        holed.record(frame: 0, at: 0)
        holed.record(frame: 48, at: 48 * 104)
        #expect(holed.primingPoint(forFrame: 50, like: header) == nil)
    }
}

/// Recording a frame must cost the same at the end of a track as at its start: the table is changed in place.
@Suite struct TableGrowthTests {
    /// A growing table is copied when its array grows; a restored one never; after a seek at most once.
    @Test(arguments: [(false, nil, 8), (true, nil, 1), (true, .seconds(2), 2)] as [(Bool, Duration?, Int)])
    func `a table is not copied while its track plays`(isRestored: Bool, seek: Duration?, most: Int)
        async throws
    {
        let first = MPEGDecoder(Fixture.bareVBR.bytes)
        _ = try await decodeRest(first)
        let source = MemorySource(Fixture.bareVBR.bytes)
        let decoder = MPEGDecoder(source: source, seekTable: isRestored ? first.seekTable() : [])
        #expect(try await tablePlaces(while: decoder, seekingTo: seek).count <= most)
        #expect(try #require(decoder.opened).map.table.offsets.count > 100)
    }

    /// The addresses of the table of `decoder` after each MPEG frame to the end of the track, without
    /// repetitions.
    private func tablePlaces(while decoder: MPEGDecoder, seekingTo time: Duration?) async throws -> [UInt] {
        try await decoder.open()
        if let time { _ = try await decoder.seek(to: time) }
        let opened = try #require(decoder.opened)
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_608, alignment: 16)
        defer { pcm.deallocate() }
        var places: [UInt] = []
        while true {
            let place = opened.map.table.offsets.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
            if places.last != place { places.append(place) }
            if case .end = try await decoder.decode(into: pcm) { return places }
        }
    }
}
