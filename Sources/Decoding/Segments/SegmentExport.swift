package import Media

/// Writes the music of a stream of segments as one file: fragmented MP4 joined, AAC in ADTS, or MP3. The
/// packets stay as they are; containers and encryptions around ADTS and MP3 are removed.
package struct SegmentExport {
    /// The bytes of one read.
    private static let readByteCount = 96 * 1024

    private let list: any SegmentList
    private let subject: SafeText

    /// `subject` names the stream in errors.
    package init(of list: any SegmentList, subject: SafeText) {
        self.list = list
        self.subject = subject
    }

    /// Passes the file to `write`, in order: that of the segments `numbers`.
    ///
    /// Throws `.notAudio` if codec or format change within the stream, since no file can have both,
    /// `.notCached` if the segments have no music, and what a segment and `write` throw.
    package func run(_ numbers: [Int], write: ([UInt8]) throws -> Void) async throws {
        let part = ListPart(list: list, numbers: numbers)
        var isEmpty = true
        func put(_ bytes: [UInt8]) throws {
            isEmpty = false
            try write(bytes)
        }
        do {
            if try await isFragmented(part) {
                try await joinFragments(of: part, write: put)
            } else {
                try await writePackets(of: part, write: put)
            }
        } catch let refusal as Refusal {
            throw refusal.error(of: subject, isOpen: true)
        }
        if isEmpty { throw MediaError(.notCached, subject, "no segment with music is cached; play it first") }
    }

    private var change: MediaError {
        MediaError(.notAudio, subject, "its format changes on the way, and no file can have both")
    }

    private func isFragmented(_ part: ListPart) async throws -> Bool {
        guard let first = try await part.firstSegment() else { return false }
        let head = try await first.bytes.read(at: 0, count: Self.readByteCount)
        return try SegmentKind.of(head) == .fragments
    }

    private func joinFragments(of part: ListPart, write: ([UInt8]) throws -> Void) async throws {
        var section: [UInt8]?
        var number = 0
        while let segment = try await part.segment(number) {
            number += 1
            if segment.isGap { continue }
            if let bytes = try await segment.initialisation?.bytes.all() {
                guard section == nil || section == bytes else { throw change }
                if section == nil { try write(bytes) }
                section = bytes
            }
            let bytes = try await segment.bytes.all()
            guard try SegmentKind.of(bytes) == .fragments else { throw change }
            try write(bytes)
        }
    }

    private func writePackets(of part: ListPart, write: ([UInt8]) throws -> Void) async throws {
        var reading = SegmentReading(part, from: 0)
        var codec: SegmentCodec?
        while true {
            switch try await reading.first() {
            case .codec(let next):
                guard codec.map({ $0.isContinued(by: next) }) ?? true else { throw change }
                codec = next
            case .packet(let packet, _):
                switch codec {
                case .adts(let header): try write(header.head(forPackets: packet.count) + packet)
                case .mpeg: try write(Array(packet))
                case .mp4, nil: throw change
                }
            case .end: return
            case .missing, .silence, .title, .needMore: break
            }
            reading.removeFirst()
        }
    }
}

/// Some segments of a list, in order.
private struct ListPart: SegmentList {
    let list: any SegmentList
    let numbers: [Int]

    var duration: Duration? { nil }

    func segment(_ number: Int) async throws -> Segment? {
        number < numbers.count ? try await list.segment(numbers[number]) : nil
    }

    /// The first one that the server has.
    func firstSegment() async throws -> Segment? {
        for number in numbers.indices {
            if let segment = try await segment(number), !segment.isGap { return segment }
        }
        return nil
    }

    func place(at time: Duration) -> (number: Int, time: Duration) { (0, .zero) }
    var startTime: Duration { .zero }
    func passedOver(_ number: Int, because cause: SafeText) {}
}

extension ByteSource {
    /// All bytes of a segment.
    fileprivate func all() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while case let more = try await read(at: Int64(bytes.count), count: 1 << 20), !more.isEmpty {
            bytes += more
        }
        return bytes
    }
}
