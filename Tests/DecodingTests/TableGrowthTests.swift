import Media
import TestSupport
import Testing

@testable import Decoding

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

    /// The addresses of the table of `decoder` after each MPEG frame to the end of the track, without repetitions.
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
