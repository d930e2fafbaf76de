import Foundation
import Media
import TestSupport
import Testing

@testable import Decoding

/// The segments of a file of sound, which is not encoded again.
struct MadeSegments: Sendable, CustomTestStringConvertible {
    enum Kind: String { case mpegts, fmp4 }

    let testDescription: String
    /// The whole sound in one file of our own decoders.
    let whole: [UInt8]
    /// The initialisation section, if there is one, and the segments.
    let parts: [[UInt8]]
    /// The lengths of the segments that a playlist states.
    let durations: [Duration]

    init(_ name: String, whole: [UInt8], parts: [[UInt8]], durations: [Duration]) {
        testDescription = name
        self.whole = whole
        self.parts = parts
        self.durations = durations
    }

    /// Segments of two seconds, which ffmpeg makes of `bytes`. None if ffmpeg is missing, so that the tests
    /// say so instead of crashing.
    init(_ kind: Kind, of bytes: [UInt8], _ fileExtension: String, _ name: String) {
        let made: (parts: [[UInt8]], durations: [Duration])? = try? {
            let folder = try TemporaryFolder()
            let input = try folder.write(bytes, to: "in." + fileExtension)
            try run(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-i", input, "-c", "copy", "-f", "hls", "-hls_time", "2"]
                    + (kind == .fmp4 && fileExtension == "aac" ? ["-bsf:a", "aac_adtstoasc"] : [])
                    + ["-hls_playlist_type", "vod", "-hls_segment_type", kind.rawValue]
                    + ["-hls_segment_filename", folder.path("%03d.seg"), folder.path("list.m3u8")]
            )
            func read(_ name: String) throws -> [UInt8] {
                Array(try Data(contentsOf: URL(fileURLWithPath: folder.path(name))))
            }
            let list = String(decoding: try read("list.m3u8"), as: UTF8.self)
            let lines = list.split(separator: "\n").map(String.init)
            let names = lines.filter { !$0.hasPrefix("#") }
            let durations = lines.filter { $0.hasPrefix("#EXTINF:") }.map { line in
                Duration.seconds(Double(line.dropFirst(8).prefix { $0 != "," }) ?? 0)
            }
            return (try ((kind == .fmp4 ? ["init.mp4"] : []) + names).map(read), durations)
        }()
        let parts = made?.parts ?? []
        self.init(
            "\(name) in \(kind.rawValue)",
            whole: kind == .fmp4 ? Array(parts.joined()) : bytes,
            parts: parts,
            durations: made?.durations ?? []
        )
    }

    /// ADTS cut into segments of `count` frames, after the tag that `tag` makes for a frame's number.
    static func packed(
        _ name: String,
        _ made: MadeAAC,
        every count: Int = 90,
        tag: (Int) -> [UInt8] = { _ in [] }
    ) -> MadeSegments {
        let frames = made.adtsFrames
        let parts = stride(from: 0, to: frames.count, by: count).map { first in
            tag(first) + frames[first..<min(first + count, frames.count)].flatMap { made.bytes[$0] }
        }
        let durations = stride(from: 0, to: frames.count, by: count).map { first in
            Duration(Int64(min(count, frames.count - first) * 1_024), per: Int64(made.rate))
        }
        return MadeSegments(name, whole: made.bytes, parts: parts, durations: durations)
    }
}

/// The steps of a demuxer, and the sound of its packets.
struct PlayedSegments {
    var sound: [UInt8] = []
    var format: AudioFormat?
    var packets: [[UInt8]] = []
    /// The numbers of the packets with times.
    var times: [(packet: Int, time: MediaTime)] = []
    var titles: [SafeText] = []
    var missing = 0
    var codecs: [SegmentCodec] = []
    /// The reasons why segments were refused.
    var refusals: [Refusal] = []

    /// Divides `parts` into pieces, whose lengths `piece` states, and demultiplexes them.
    init(
        _ parts: [[UInt8]],
        near time: Duration? = nil,
        in piece: () -> Int = { 65_536 }
    ) {
        var demuxer = SegmentDemuxer(near: time)
        for (number, part) in parts.enumerated() {
            if number > 0 { demuxer.beginSegment() }
            var index = 0
            while index < part.count {
                let end = min(part.count, index + piece())
                demuxer.append(Array(part[index..<end]))
                take(from: &demuxer)
                index = end
            }
        }
        demuxer.finish()
        take(from: &demuxer)
    }

    private mutating func take(from demuxer: inout SegmentDemuxer) {
        do throws(Refusal) {
            while true {
                switch try demuxer.next() {
                case .codec(let codec): codecs.append(codec)
                case .packet(let packet, let time):
                    if let time { times.append((packets.count, time)) }
                    packets.append(Array(packet))
                case .missing(let count): missing += count
                case .silence: break
                case .title(let title, _): titles.append(title)
                case .needMore, .end: return
                }
            }
        } catch { refusals.append(error) }
    }

    /// Decodes the packets of the first codec.
    mutating func decode() async throws {
        let codec = try #require(codecs.first)
        let decoder = try await codec.decoder(trying: packets.prefix(24).map { $0[...] }, of: "song")
        let output = PacketOutput(decoder)
        output.restart(at: 0, playing: codec.skippedFrames(in: decoder)..<FrameCount.max)
        let pcm = UnsafeMutableRawBufferPointer.allocate(byteCount: 48_000, alignment: 16)
        defer { pcm.deallocate() }
        for packet in packets {
            output.decode(packet[...], expecting: output.packetFrames)
            while !output.isEmpty {
                let count = output.pass(into: pcm)
                sound += pcm[..<(count * output.format.bytesPerFrame)]
            }
        }
        format = output.format
    }
}

/// A transport stream made by hand.
struct MadeTransport {
    static let program = 0x1000
    static let sound = 0x101
    static let titles = 0x102

    struct Stream {
        var type: UInt8
        var pid: Int
        var descriptors: [UInt8] = []
    }

    var bytes: [UInt8] = []
    private var counters: [Int: UInt8] = [:]

    init() {}

    /// `frames` after tables that state `type`, five frames in each PES packet, with the times of 1,024
    /// samples at 44.1 kHz, from `first` on.
    init(type: UInt8 = 0x0F, _ frames: [[UInt8]], from first: Int64 = 0, length: Int? = nil) {
        tables([Stream(type: type, pid: Self.sound)])
        for index in stride(from: 0, to: frames.count, by: 5) {
            let content = Array(frames[index..<min(index + 5, frames.count)].joined())
            pes(content, at: first + Self.ticks(of: index), length: length)
        }
    }

    /// The time of packet `number`.
    static func ticks(of number: Int) -> Int64 { Int64(number) * 1_024 * 90_000 / 44_100 }

    /// Appends packets of `pid` with `payload`, the last of which is filled up.
    mutating func packets(_ pid: Int, _ payload: [UInt8], flags: UInt8 = 0) {
        var rest = payload[...]
        while !rest.isEmpty {
            let isStart = rest.count == payload.count
            let count = min(rest.count, 184)
            let counter = counters[pid, default: 0]
            counters[pid] = (counter + 1) & 15
            let fill = 184 - count
            bytes += [0x47, UInt8(pid >> 8) | (isStart ? 0x40 : 0), UInt8(pid & 0xFF)]
            bytes.append((fill > 0 ? 0x30 : 0x10) | counter | flags)
            if fill > 0 {
                bytes.append(UInt8(fill - 1))
                if fill > 1 { bytes += [0] + [UInt8](repeating: 0xFF, count: fill - 2) }
            }
            bytes += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
    }

    /// Skips `count` numbers of packets of `pid`.
    mutating func lose(_ count: UInt8, of pid: Int) {
        counters[pid] = (counters[pid, default: 0] + count) & 15
    }

    mutating func tables(_ streams: [Stream], program: Int = program) {
        packets(0, Self.section(0, number(1) + number(0xE000 | program)))
        let listed = streams.flatMap { stream in
            [stream.type] + number(0xE000 | stream.pid) + number(0xF000 | stream.descriptors.count)
                + stream.descriptors
        }
        packets(program, Self.section(2, number(0xE000 | Self.sound) + number(0xF000) + listed))
    }

    static func section(_ table: UInt8, _ content: [UInt8], isValid: Bool = true) -> [UInt8] {
        let length = content.count + 9
        let head = [
            table, 0xB0 | UInt8(length >> 8), UInt8(length & 0xFF), 0, 1, isValid ? 0xC1 : 0xC0, 0, 0,
        ]
        let check = Section.check(head + content)
        return [0] + head + content + (0..<4).map { UInt8(truncatingIfNeeded: check >> (24 - 8 * $0)) }
    }

    private func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    /// A PES packet that states `length`, or its own; `extra` bytes follow its fields.
    static func pes(
        _ content: [UInt8],
        at stamp: Int64? = nil,
        length: Int? = nil,
        extra: Int = 0,
        id: UInt8 = 0xC0
    ) -> [UInt8] {
        var fields: [UInt8] = []
        if let stamp {
            fields = [
                0x21 | UInt8(stamp >> 29 & 0x0E), UInt8(stamp >> 22 & 0xFF), UInt8(stamp >> 14 & 0xFE) | 1,
            ]
            fields += [UInt8(stamp >> 7 & 0xFF), UInt8(stamp << 1 & 0xFE) | 1]
        }
        fields += [UInt8](repeating: 0xFF, count: extra)
        let stated = length ?? content.count + fields.count + 3
        let head = [0, 0, 1, id, UInt8(stated >> 8 & 0xFF), UInt8(stated & 0xFF), 0x80]
        return head + [stamp == nil ? 0 : 0x80, UInt8(fields.count)] + fields + content
    }

    mutating func pes(_ content: [UInt8], at stamp: Int64? = nil, length: Int? = nil, extra: Int = 0) {
        packets(Self.sound, Self.pes(content, at: stamp, length: length, extra: extra))
    }
}

extension MadeAAC {
    /// The frames of an ADTS file.
    var frameBytes: [[UInt8]] { adtsFrames.map { Array(bytes[$0]) } }
}
