import Media
import TestSupport
import Testing

@testable import Decoding

/// Damaged frames become silence of their length; all around them plays.
@Suite struct FLACDamageTests {
    private static let made: [MadeFLAC] = [
        .plain, .bare,
        MadeFLAC.byFlac(["--blocksize=1024", "--no-seektable"]).withVariableBlocks(),
        .byFlac([], MadeWave(samples: .s24, frames: 8_000 * 12, loudness: 0.05)),
    ]

    /// Decodes `bytes` and compares them with the PCM of `made` frame by frame: a frame of the stream is
    /// exact, or silent if it is one of `damaged`.
    private func expectSilence(in damaged: Set<Int>, _ bytes: [UInt8], _ made: MadeFLAC, _ place: String)
        async throws
    {
        let decoder = try await openedFLAC(bytes)
        let heard = try await decodeBytes(decoder)
        let expected = made.wave.pcm
        #expect(heard.count == expected.count, "\(place)")
        let width = decoder.info.format.bytesPerFrame
        for (index, header) in made.frames.headers.enumerated() {
            let range = Int(header.position) * width..<Int(header.end) * width
            guard range.upperBound <= heard.count else { return }
            let isSilent = heard[range].allSatisfy { $0 == 0 }
            let isExact = heard[range] == expected[range]
            if damaged.contains(index) ? !isSilent : !isExact {
                Issue.record(
                    "\(place): frame \(index) is \(isSilent ? "silent" : isExact ? "exact" : "wrong")"
                )
            }
        }
    }

    @Test(arguments: made)
    func `a hundred flipped bytes silence only their frames`(made: MadeFLAC) async throws {
        let places = made.frames.places
        var random = SeededGenerator(seed: 8)
        var bytes = made.bytes
        var damaged: Set<Int> = []
        for _ in 0..<100 {
            let frame = Int.random(in: 0..<places.count, using: &random)
            let place = Int.random(in: places[frame], using: &random)
            // A second flip could undo the first.
            guard damaged.insert(frame).inserted else { continue }
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        try await expectSilence(in: damaged, bytes, made, "flips")
    }

    @Test(arguments: made)
    func `20 KB of zeros silence the frames that they touch, wherever they are`(made: MadeFLAC) async throws {
        let places = made.frames.places
        let start = places[0].lowerBound
        let end = made.bytes.count
        for offset in [start, start + 100_000, places[3].lowerBound, places[7].lowerBound - 1, end - 20_000] {
            let hole = offset..<min(offset + 20_000, end)
            var bytes = made.bytes
            for index in hole { bytes[index] = 0 }
            let damaged = Set(places.indices.filter { places[$0].overlaps(hole) })
            try await expectSilence(in: damaged, bytes, made, "zeros at \(offset)")
        }
    }

    @Test(arguments: made)
    func `missing and added bytes silence only the frames around them`(made: MadeFLAC) async throws {
        let places = made.frames.places
        let head = made.bytes[..<(places[5].lowerBound + 50)]
        let tail = made.bytes[(places[5].lowerBound + 50)...]
        try await expectSilence(in: [5], Array(head + tail.dropFirst(20)), made, "20 bytes missing")
        try await expectSilence(
            in: [5],
            Array(head + [UInt8](repeating: 0x41, count: 128) + tail),
            made,
            "added"
        )
        let between = made.bytes[..<places[6].lowerBound] + [UInt8](repeating: 0xFF, count: 3_000)
        try await expectSilence(in: [], Array(between + made.bytes[places[6].lowerBound...]), made, "between")
        try await expectSilence(in: [], made.bytes + id3v1, made, "a tag at the end")
    }

    @Test(arguments: made)
    func `a file that was cut plays to the cut`(made: MadeFLAC) async throws {
        let places = made.frames.places
        let frame = places.count / 2
        let decoder = try await openedFLAC(Array(made.bytes[..<places[frame].lowerBound]))
        let heard = try await decodeBytes(decoder)
        let width = decoder.info.format.bytesPerFrame
        expectSame(heard, made.wave.pcm.prefix(Int(made.frames.headers[frame].position) * width))
        #expect(decoder.info.duration == decoder.info.format.duration(of: FrameCount(heard.count / width)))
    }

    /// A recorder does not know the length, and the player reads on at the end of what is there.
    @Test func `a file that is still written plays on as it grows`() async throws {
        var bytes = MadeFLAC.bare.bytes
        // No number of samples, and no MD5.
        bytes.replaceSubrange(22..<42, with: [UInt8](repeating: 0, count: 20))
        bytes[21] &= 0xF0
        let places = MadeFLAC.bare.frames.places
        let source = MemorySource(bytes, isStored: true)
        source.setLength(places[4].lowerBound + 100)
        let decoder = FLACDecoder(ProbedStream(source: source, subject: "song"))
        var heard: [UInt8] = []
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 16)
        defer { pcm.deallocate() }
        while case .frames(let count) = try await decoder.decode(into: pcm) {
            heard += Array(pcm[..<(count * decoder.info.format.bytesPerFrame)])
            source.setLength(min(bytes.count, (source.length.map { Int($0) } ?? 0) + 40_000))
        }
        expectSame(heard, MadeFLAC.bare.wave.pcm)
        let total = FrameCount(MadeFLAC.bare.wave.frames)
        #expect(decoder.info.duration == decoder.info.format.duration(of: total))
        let landing = try await decoder.seek(to: .seconds(7))
        #expect(landing == SeekLanding(frame: 56_000, isExact: true))
    }

    @Test(arguments: made)
    func `a seek into damage lands at its time`(made: MadeFLAC) async throws {
        let places = made.frames.places
        let headers = made.frames.headers
        let hole = places[places.count / 2].lowerBound..<places[places.count / 2].lowerBound + 20_000
        var bytes = made.bytes
        for index in hole { bytes[index] = 0 }
        let decoder = try await openedFLAC(bytes)
        let whole = try await decodeBytes(decoder)
        let format = decoder.info.format
        for position in [headers[places.count / 2 + 1].position + 9, headers[places.count / 2 - 2].position] {
            for seeker in [decoder, try await openedFLAC(bytes)] {
                let landing = try await seeker.seek(to: format.duration(of: position))
                #expect(landing == SeekLanding(frame: position, isExact: true))
                let rest = whole.dropFirst(Int(position) * format.bytesPerFrame)
                expectSame(try await decodeBytes(seeker, atMost: 100_000), rest.prefix(100_000))
            }
        }
    }

    @Test(arguments: [1_000, 3 << 30])
    func `a stream without a frame is refused, and is not read for gigabytes`(length: Int) async throws {
        let head = Array(MadeFLAC.bare.bytes[..<MadeFLAC.bare.frames.places[0].lowerBound])
        let source = MemorySource(head, length: head.count + length)
        let decoder = FLACDecoder(ProbedStream(source: source, subject: "song"))
        await #expect(throws: MediaError.self) { try await decodeBytes(decoder) }
        #expect(source.requests.count <= 130)
    }
}
