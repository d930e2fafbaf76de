import Media
import System

/// Opens the segments of a stream, with their keys and initialisation sections, each of which is read once.
final class SegmentOpener: Sendable {
    private struct State {
        var keys: [ResourceLocation: [UInt8]] = [:]
        var sections: [(number: Int, section: InitializationSection, bytes: HeldSection)] = []
        var sectionCount = 0
    }

    /// The most keys and initialisation sections that are held; streams change them rarely.
    private static let mostHeld = 32
    private static let longestSection = 1 << 20
    /// More than segments have, pictures included. Room for so many bytes is left in the cache if a server
    /// does not state the length.
    private static let mostBytesPerSecond: Int64 = 1 << 20

    private let readers: PartReaders
    private let decrypt: SegmentParts.Decrypt
    private let subject: SafeText
    private let state = Locked(State())

    /// `subject` names the stream in errors.
    init(_ readers: PartReaders, decrypt: @escaping SegmentParts.Decrypt, subject: SafeText) {
        self.readers = readers
        self.decrypt = decrypt
        self.subject = subject
    }

    /// Opens `segment`, whose number in the stream is `number`.
    func open(_ segment: MediaSegment, number: Int, isLowPriority: Bool) async throws -> OpenedSegment {
        var made = Segment(
            HeldSection([]),
            lasting: segment.duration,
            discontinuity: Int(clamping: segment.discontinuity)
        )
        made.number = number
        made.start = segment.start
        made.isGap = segment.isGap
        if segment.isGap { return OpenedSegment(segment: made) }
        let part = try await readers.open(
            .segments(from: segment.resource),
            at: segment.location,
            likelyLength: Int64(min(segment.duration.seconds, 1e6)) * Self.mostBytesPerSecond,
            isLowPriority: isLowPriority
        )
        do {
            made.initialisation = try await section(segment.section)
            made.bytes = ByteSlice(part.reader, segment.range)
            if let key = segment.key { made.bytes = try await decrypted(made.bytes, by: key) }
            return OpenedSegment(segment: made, range: segment.range, part: part)
        } catch {
            await readers.close(part)
            throw error
        }
    }

    private func decrypted(_ bytes: any ByteSource, by key: SegmentKey) async throws -> any ByteSource {
        let secret: [UInt8]
        if let held = state.withLock({ $0.keys[key.location] }) {
            secret = held
        } else {
            secret = try await readers.bytes(
                of: key.location.url.map { .key($0) },
                at: key.location,
                atMost: Self.mostHeld,
                subject: subject
            )
            guard secret.count == Int(DecryptedSource.blockByteCount) else {
                let cause: SafeText = "the key of this encrypted stream is damaged – try again later"
                throw MediaError(.badAnswer, subject, cause)
            }
            state.withLock { state in
                if state.keys.count >= Self.mostHeld { state.keys = [:] }
                state.keys[key.location] = secret
            }
        }
        return DecryptedSource(bytes, key: secret, vector: key.initializationVector, decrypt: decrypt)
    }

    /// The number and bytes of an initialisation section.
    private func section(_ section: InitializationSection?) async throws -> (
        number: Int, bytes: any ByteSource
    )? {
        guard let section else { return nil }
        func held() -> (Int, any ByteSource)? {
            state.withLock { state in
                state.sections.first { $0.section == section }.map { ($0.number, $0.bytes) }
            }
        }
        if let held = held() { return held }
        var bytes = try await readers.bytes(
            of: section.location.url.map { .section($0) },
            at: section.location,
            section.range,
            atMost: Self.longestSection,
            subject: subject
        )
        if let key = section.key {
            let source = try await decrypted(HeldSection(bytes), by: key)
            bytes = try await source.allBytes(atMost: Self.longestSection, of: subject)
        }
        state.withLock { [bytes] state in
            if state.sections.count == Self.mostHeld { state.sections.removeFirst() }
            state.sections.append((state.sectionCount, section, HeldSection(bytes)))
            state.sectionCount += 1
        }
        return held()
    }
}
