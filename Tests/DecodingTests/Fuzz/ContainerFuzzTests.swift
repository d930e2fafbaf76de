import Media
import TestSupport
import Testing

@testable import Decoding

/// Damaged files of every container: nothing traps, every call ends within counted reads and steps, and a
/// length of 2 GB that a box, page, block or frame states costs nothing.
@Suite struct ContainerFuzzTests {
    /// All containers that are played. A new one is one more line here.
    static let containers = [
        Container("MP3", marks: ["\u{FF}\u{FB}", "ID3", "Xing"], [tag(of: 300) + cut(.vbr) + ape(40)]),
        Container("bare MPEG", marks: ["\u{FF}"], oddStreams.map(cut)),
        Container("WAV", marks: ["RIFF", "fmt ", "LIST", "data"], [wave(.s16), wave(.s24), wave(.f32)]),
        Container("AIFF", marks: ["FORM", "COMM", "SSND", "NAME"], [aiff(.s24), aiff(.f32, "fl32")]),
        Container("FLAC", marks: ["fLaC", "\u{FF}\u{F8}"], [flac([]), flac(["--blocksize=576"])]),
        Container("Ogg Vorbis", marks: oggMarks, [ogg(.vorbis)], mend: MadeOgg.mend),
        Container(
            "Ogg Opus",
            marks: oggMarks,
            [ogg(.opus), ogg(.opus) + ogg(.opus, seed: 2)],
            mend: MadeOgg.mend
        ),
        Container(
            "Ogg FLAC",
            marks: oggMarks + ["fLaC", "\u{FF}\u{F8}"],
            [ogg(.flac), ogg(.flac, seed: 2) + ogg(.flac)],
            mend: MadeOgg.mend
        ),
        Container("ADTS", marks: ["\u{FF}\u{F1}"], [Array(MadeAAC("aac", seconds: 1).bytes)]),
        Container("MP4", marks: mp4Marks, [aac("m4a", "+faststart"), aac("m4a", "")], numbered: true),
        Container("MP4 with ALAC", marks: mp4Marks + ["alac"], [alac(.s16), alac(.s24)], numbered: true),
        Container(
            "MP4 fragments",
            marks: mp4Marks,
            [aac("mp4", "+frag_keyframe+empty_moov+default_base_moof"), aac("mp4", "+dash+global_sidx")],
            numbered: true
        ),
    ]

    private static let oddStreams = [
        OddStreams.mono, OddStreams.lowest, OddStreams.free, OddStreams.layerII, OddStreams.layerI,
    ]
    private static let oggMarks = ["OggS", "OpusHead", "vorbis"]

    private static let mp4Marks = [
        "ftyp", "mdat", "moov", "mvhd", "trak", "tkhd", "mdhd", "hdlr", "elst", "stsd", "mp4a", "esds",
        "stts", "stsc",
        "stsz", "stco", "trex", "moof", "mfhd", "traf", "tfhd", "tfdt", "trun", "sidx", "ilst", "udta",
    ]

    private static func aac(_ fileExtension: String, _ flags: String) -> [UInt8] {
        let parts = fileExtension == "mp4" ? ["-frag_duration", "200000"] : []
        return MadeAAC(fileExtension, (flags.isEmpty ? [] : ["-movflags", flags]) + parts, seconds: 1).bytes
    }

    private static func alac(_ samples: MadeWave.Samples) -> [UInt8] {
        MadeALAC.byFFmpeg(MadeALAC.wave(samples, rate: 16_000, frames: 16_000)).bytes
    }

    private static func cut(_ fixture: Fixture) -> [UInt8] { Array(fixture.bytes.prefix(4_000)) }

    private static func wave(_ samples: MadeWave.Samples) -> [UInt8] {
        MadeWave(samples: samples, frames: 1_500, before: informationList([("INAM", "Title")])).bytes
    }

    private static func aiff(_ samples: MadeWave.Samples, _ codec: String? = nil) -> [UInt8] {
        var made = MadeAIFF(MadeWave(samples: samples, frames: 1_500), codec: codec)
        made.before = iffChunk("NAME", Array("Title".utf8))
        return made.bytes
    }

    private static func flac(_ arguments: [String]) -> [UInt8] {
        MadeFLAC.byFlac(arguments, MadeWave(frames: 8_000, loudness: 0.05)).bytes
    }

    private static func ogg(_ codec: MadeOgg.Codec, seed: UInt64 = 1) -> [UInt8] {
        let pages = codec == .opus ? ["--max-delay", "100"] : []
        return MadeOgg(codec, pages, seconds: 1, rate: 16_000, channels: 1, seed: seed).bytes
    }

    /// Small real files of one container.
    struct Container: Sendable {
        let name: String
        let files: [[UInt8]]
        /// The offsets of marks in each file: heads and fields with lengths follow them, where damage tells
        /// most.
        let places: [[Int]]
        /// Gives damaged bytes the checksums that get them past the first check; `nil` if the container has
        /// none.
        let mend: (@Sendable (inout [UInt8]) -> Void)?
        /// `true` if the marks are followed by fields of 32 bits: sizes, counts, offsets and times.
        let isNumbered: Bool

        init(
            _ name: String,
            marks: [String],
            _ files: [[UInt8]],
            numbered isNumbered: Bool = false,
            mend: (@Sendable (inout [UInt8]) -> Void)? = nil
        ) {
            self.name = name
            self.files = files
            self.isNumbered = isNumbered
            self.mend = mend
            let marks = marks.map { $0.unicodeScalars.map { UInt8($0.value) } }
            places = files.map { file in
                file.indices.filter { index in marks.contains { file[index...].starts(with: $0) } }
            }
        }

        func damaged(_ mutator: inout Mutator) -> [UInt8] {
            let number = mutator.number(0...files.count - 1)
            if isNumbered, mutator.number(0...2) > 0 {
                return mutator.withNumbers(in: files[number], near: places[number])
            }
            var bytes = mutator.damagedFile(files[number], favouring: places[number])
            if mutator.number(0...1) == 0 { mend?(&bytes) }
            return bytes
        }
    }

    /// The bytes that a resource seems to have if 3 GB of zeros follow the file.
    private static let hugeLength = 3 << 30
    /// The same for frames and pages, which are looked for behind zeros of any length: more than 8 MiB.
    private static let longLength = 9 << 20
    /// One of so many inputs is followed by them, since a debug build takes a second to search megabytes of
    /// zeros.
    private static let hugeShare = TestCount.of(32, full: 4)
    /// The most requests of 64 KiB until a resource is open, and until the first sound after a seek: 8 MiB of
    /// other bytes, and the search before them.
    private static let mostRequests = 160
    /// The most reads until everything was decoded.
    private static let mostReads = 2_500

    /// 200,000 inputs in all, 2,000 in the subset.
    @Test(.timeLimit(.minutes(10)), arguments: TestCount.seeds(2, full: 200))
    func `damaged files of every container trap nowhere and cost bounded reads and steps`(block: UInt64)
        async throws
    {
        #expect(Self.containers.allSatisfy { $0.files.allSatisfy { $0.count > 1_000 } })
        let tables = try await Self.seekTables()
        let memory = ResidentMemory.Bound()
        for seed in block * 1_000..<(block + 1) * 1_000 {
            var mutator = Mutator(seed: seed)
            let number = Int(seed % UInt64(Self.containers.count))
            let bytes = Self.containers[number].damaged(&mutator)
            var table: [UInt8] = []
            if mutator.number(0...1) == 0 {
                table = checked(mutator.damaged(Array(tables[number].dropLast(8))))
            }
            do {
                try await play(
                    bytes,
                    passesHoles: !["WAV", "AIFF", "MP4", "MP4 with ALAC", "MP4 fragments"]
                        .contains(Self.containers[number].name),
                    seekTable: table,
                    &mutator,
                    "\(Self.containers[number].name), seed \(seed)"
                )
            } catch is MediaError {
                // Damaged beyond recognition.
            }
        }
        memory.check("block \(block)")
    }

    /// The seek table of the first file of each container.
    private static func seekTables() async throws -> [[UInt8]] {
        var tables: [[UInt8]] = []
        for container in containers {
            let source = MemorySource(container.files[0], isStored: true)
            let decoder = try await DecoderTable.all.decoder(for: source, at: .file("/song"))
            _ = try await decodeBytes(decoder)
            tables.append(decoder.seekTable())
        }
        return tables
    }

    /// Opens `bytes`, seeks, scans and decodes, as a player does in any order.
    private func play(
        _ bytes: [UInt8],
        passesHoles: Bool,
        seekTable: [UInt8],
        _ mutator: inout Mutator,
        _ place: String
    ) async throws {
        let isHuge = mutator.number(1...Self.hugeShare) == 1
        let source = MemorySource(
            bytes,
            isStored: !isHuge && mutator.number(0...1) == 0,
            length: isHuge ? (passesHoles ? Self.longLength : Self.hugeLength) : nil,
            seekTable: seekTable,
            mostReads: Self.mostReads
        )
        var steps = 0
        let mostSteps = 4 * bytes.count + 10_000
        func step() throws {
            steps += 1
            guard steps <= mostSteps else { throw Endless() }
        }
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { pcm.deallocate() }
        func decode(_ decoder: any AudioDecoder, steps count: Int = .max) async throws {
            for _ in 0..<count {
                try step()
                guard case .frames(let frames) = try await decoder.decode(into: pcm) else { return }
                #expect((1...pcm.count / decoder.info.format.bytesPerFrame).contains(frames), "\(place)")
            }
        }
        do {
            let decoder = try await opened(source, place)
            for _ in 0..<3 {
                let before = source.requests.count
                _ = try await decoder.seek(to: .milliseconds(mutator.number(-100...3_000)))
                try await decode(decoder, steps: isHuge ? 1 : mutator.number(0...40))
                #expect(source.requests.count - before <= Self.mostRequests, "a seek in \(place)")
                while mutator.number(0...3) > 0, try await decoder.scanStored() { try step() }
                _ = decoder.isStored(at: .seconds(1))
                _ = decoder.seekTable()
            }
            guard !isHuge else { return }
            try await decode(decoder)
        } catch is Endless {
            Issue.record("\(place) does not end: \(steps) steps, \(source.reads.count) reads")
        }
    }

    private func opened(_ source: MemorySource, _ place: String) async throws -> any AudioDecoder {
        defer { #expect(source.requests.count <= Self.mostRequests, "opening \(place)") }
        let decoder = try await DecoderTable.all.decoder(for: source, at: .file("/song"))
        try await decoder.open()
        return decoder
    }
}
