import Decoding
import Media
import TestSupport
import Testing

/// The contract between every decoder and the player.
@Suite struct AudioDecoderContractTests {
    /// A decoder with a resource that it decodes.
    struct Subject: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]
        /// `true` if its tables state offsets in the file, which a tag that is put in front makes wrong.
        var statesOffsets = false
        var make: @Sendable (ProbedStream) -> any AudioDecoder

        func decoder(_ source: any ByteSource, seekTable: [UInt8] = []) -> any AudioDecoder {
            make(ProbedStream(source: source, subject: "song", seekTable: seekTable))
        }
    }

    static let subjects = [
        Subject(testDescription: "MPEG", bytes: Fixture.vbr.bytes) { MPEGDecoder($0) },
        Subject(testDescription: "WAV", bytes: MadeWave().bytes) { PCMDecoder($0) },
        Subject(testDescription: "WAV of 24 bits", bytes: MadeWave(samples: .s24).bytes) { PCMDecoder($0) },
        Subject(testDescription: "AIFF", bytes: MadeAIFF(MadeWave()).bytes) { PCMDecoder($0) },
        Subject(testDescription: "FLAC", bytes: MadeFLAC.plain.bytes) { FLACDecoder($0) },
        Subject(testDescription: "FLAC without a table", bytes: MadeFLAC.bare.bytes) { FLACDecoder($0) },
        Subject(testDescription: "Vorbis", bytes: MadeOgg.vorbis.bytes) { OggDecoder($0) },
        Subject(testDescription: "FLAC in Ogg", bytes: MadeOgg.flac.bytes) { OggDecoder($0) },
        Subject(testDescription: "Opus", bytes: MadeOgg.opus.bytes) { OggDecoder($0) },
        Subject(testDescription: "ADTS", bytes: MadeAAC.adts.bytes) { ADTSDecoder($0) },
        Subject(testDescription: "M4A", bytes: MP4Tests.frontFile.bytes, statesOffsets: true) {
            MP4Decoder($0)
        },
        Subject(testDescription: "ALAC", bytes: MadeALAC.plain.bytes, statesOffsets: true) { MP4Decoder($0) },
        Subject(testDescription: "tone", bytes: ToneDecoder.bytes(seconds: 12)) { ToneDecoder($0) },
    ]

    /// All PCM from where `decoder` stands, decoded into buffers of `frames` frames.
    private func rest(
        _ decoder: any AudioDecoder,
        by frames: Int = 4_608,
        atMost limit: Int = .max
    ) async throws -> [UInt8] {
        try await decoder.open()
        let width = decoder.info.format.bytesPerFrame
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: frames * width, alignment: 16)
        defer { pcm.deallocate() }
        let most = limit < .max ? limit * width : .max
        var all: [UInt8] = []
        while all.count < most {
            guard case .frames(let count) = try await decoder.decode(into: pcm) else { break }
            if !(1...frames).contains(count) { Issue.record("\(count) frames for room for \(frames)") }
            all += pcm[..<(count * width)]
        }
        return Array(all.prefix(most))
    }

    @Test(arguments: subjects)
    func `a decoder opens once, by one read of 64 KiB`(subject: Subject) async throws {
        let source = MemorySource(subject.bytes)
        let decoder = subject.decoder(source)
        try await decoder.open()
        let reads = source.reads.count
        #expect(source.reads.allSatisfy { $0.offset + Int64($0.asked) <= 65_536 })
        let info = decoder.info
        try await decoder.open()
        #expect(source.reads.count == reads && decoder.info == info)
        #expect(info.bytesPerSecond > 0 && info.duration.map { $0 > .seconds(1) } == true)
    }

    @Test(arguments: subjects)
    func `the first bytes are not read again if the probe has read them`(subject: Subject) async throws {
        let source = MemorySource(subject.bytes)
        let head = Array(subject.bytes.prefix(40_000))
        let decoder = subject.make(ProbedStream(source: source, head: head, subject: "song"))
        let heard = try await rest(decoder)
        expectSame(heard, try await rest(subject.decoder(MemorySource(subject.bytes))))
        #expect(source.reads.allSatisfy { $0.offset >= Int64(head.count) })
    }

    @Test(arguments: subjects.filter { !$0.statesOffsets })
    func `tags in front of the music are shown, and change neither its frames nor its seeks`(
        subject: Subject
    ) async throws {
        let plain = subject.decoder(MemorySource(subject.bytes))
        let whole = try await rest(plain)
        let tag = id3Tag(version: 4, id3Frame("TIT2", [3] + Array("Hush".utf8)))
        let decoder = subject.decoder(MemorySource(tag + subject.bytes))
        expectSame(try await rest(decoder), whole)
        #expect(decoder.info.tags.title == plain.info.tags.title ?? "Hush")
        #expect(decoder.info.audioStart == plain.info.audioStart + Int64(tag.count))
        let landing = try await decoder.seek(to: .seconds(3))
        #expect(landing.isExact)
        let heard = try await rest(decoder, atMost: 10_000)
        let place = Int(landing.frame) * decoder.info.format.bytesPerFrame
        expectSame(heard, whole.dropFirst(place).prefix(heard.count))
    }

    @Test(arguments: subjects, [1, 7, 1_151])
    func `a buffer of any size receives the same frames`(subject: Subject, frames: Int) async throws {
        let decoder = subject.decoder(MemorySource(subject.bytes))
        let heard = try await rest(decoder, by: frames, atMost: 20_000)
        expectSame(heard, try await rest(subject.decoder(MemorySource(subject.bytes)), atMost: 20_000))
    }

    @Test(arguments: subjects, [1_000, 27_648])
    func `short reads give the same frames, and the end stays the end`(subject: Subject, frames: Int)
        async throws
    {
        let whole = try await rest(subject.decoder(MemorySource(subject.bytes)))
        let decoder = subject.decoder(MemorySource(subject.bytes, shortReads: UInt64(frames)))
        expectSame(try await rest(decoder, by: frames), whole)
        #expect(try await rest(decoder, by: frames).isEmpty)
        let format = decoder.info.format
        #expect(decoder.info.duration == format.duration(of: FrameCount(whole.count / format.bytesPerFrame)))
    }

    @Test(arguments: subjects)
    func `decoding continues at the landing of a seek, which is within the music`(subject: Subject)
        async throws
    {
        let decoder = subject.decoder(MemorySource(subject.bytes))
        let whole = try await rest(decoder)
        let format = decoder.info.format
        for time in [Duration.seconds(3), .milliseconds(7_531), .seconds(-1), .zero, .seconds(3_600)] {
            let landing = try await decoder.seek(to: time)
            #expect(landing.isExact)
            let frames = FrameCount(whole.count / format.bytesPerFrame)
            #expect(landing.frame == min(max(0, format.frames(in: time)), frames))
            let heard = try await rest(decoder, atMost: 10_000)
            let expected = whole.dropFirst(Int(landing.frame) * format.bytesPerFrame).prefix(heard.count)
            expectSame(heard, expected)
            #expect(heard.count == 10_000 * format.bytesPerFrame || landing.frame == frames)
        }
    }

    @Test(arguments: subjects)
    func `a stored seek table makes a seek exact, and a foreign one does no harm`(subject: Subject)
        async throws
    {
        let first = subject.decoder(MemorySource(subject.bytes))
        let whole = try await rest(first)
        for table in [first.seekTable(), Array("no table at all".utf8)] {
            let decoder = subject.decoder(MemorySource(subject.bytes), seekTable: table)
            try await decoder.open()
            let landing = try await decoder.seek(to: .seconds(5))
            #expect(landing.isExact || table != first.seekTable())
            guard landing.isExact else { continue }
            let width = decoder.info.format.bytesPerFrame
            expectSame(try await rest(decoder), Array(whole.dropFirst(Int(landing.frame) * width)))
        }
    }

    enum Moment: CaseIterable, Sendable { case opening, decoding, seeking }

    @Test(arguments: subjects, Moment.allCases)
    func `a cancelled call throws, and the decoder can still seek`(subject: Subject, moment: Moment)
        async throws
    {
        let whole = try await rest(subject.decoder(MemorySource(subject.bytes)))
        let source = MemorySource(subject.bytes)
        // Unsafe: the task that uses it has ended before this one uses it again.
        nonisolated(unsafe) let decoder = subject.decoder(source)
        if moment != .opening { _ = try await rest(decoder, atMost: 2_000) }
        let before = source.reads.count
        source.closeGate()
        let task = Task {
            if moment == .seeking { _ = try await decoder.seek(to: .seconds(8)) }
            _ = try await rest(decoder)
        }
        try await wait(for: "a read") { source.reads.count > before }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        source.openGate()
        #expect(try await decoder.seek(to: .zero) == SeekLanding(frame: 0, isExact: true))
        expectSame(try await rest(decoder), whole)
    }

    @Test(arguments: subjects)
    func `a call in a cancelled task throws, even if it needs no read`(subject: Subject) async throws {
        nonisolated(unsafe) let decoder = subject.decoder(MemorySource(subject.bytes))
        try await decoder.open()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await rest(decoder, atMost: 1)
        }
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test(arguments: subjects)
    func `a resource that is empty or of another kind is refused by its name`(subject: Subject) async throws {
        for (bytes, code) in [([], .emptyResource), (Array("no music".utf8), .notAudio)]
            as [([UInt8], MediaError.Code)]
        {
            let decoder = subject.decoder(MemorySource(bytes))
            let error = await #expect(throws: MediaError.self) { try await decoder.open() }
            #expect(error?.code == code && error?.subject == "song")
        }
    }

    @Test(arguments: subjects)
    func `stored bytes are scanned without a request, until none are left`(subject: Subject) async throws {
        let source = MemorySource(subject.bytes, isStored: true)
        let decoder = subject.decoder(source)
        try await decoder.open()
        var slices = 0
        while try await decoder.scanStored() { slices += 1 }
        #expect(slices <= subject.bytes.count / 1_000 && source.requests.isEmpty)
        #expect(try await decoder.seek(to: .seconds(4)).isExact)
    }
}
