import Media
import TestSupport
import Testing

@testable import Decoding

/// Recording a frame must cost the same at the end of a track as at its start: the table is changed in place.
@Suite struct TableGrowthTests {
    @Test func `a restored table is never copied while its track plays`() async throws {
        let first = MPEGDecoder(Fixture.bareVBR.bytes)
        _ = try await decodeRest(first)
        let source = MemorySource(Fixture.bareVBR.bytes)
        let decoder = MPEGDecoder(source: source, seekTable: first.seekTable())
        #expect(try await tablePlaces(while: decoder, seekingTo: nil).count == 1)
    }

    @Test func `a growing table is copied only when its array grows`() async throws {
        let decoder = MPEGDecoder(Fixture.bareVBR.bytes)
        let places = try await tablePlaces(while: decoder, seekingTo: nil)
        let points = try #require(decoder.opened).map.table.offsets.count
        #expect(points > 100)
        #expect(places.count <= 8)
    }

    @Test func `a seek copies the table once at most`() async throws {
        let decoder = MPEGDecoder(Fixture.bareVBR.bytes)
        _ = try await decodeRest(decoder)
        #expect(try await tablePlaces(while: decoder, seekingTo: .seconds(2)).count <= 2)
    }

    /// The places in memory, in turn, of the table of `decoder`, looked at whenever it gives one MPEG frame, to
    /// the end of the track.
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
