import Glibc

/// A resource that the origin serves from memory.
package struct OriginResource: Sendable {
    /// The whole body.
    package var bytes: [UInt8]
    /// The value of `Content-Type`.
    package var contentType: String
    /// The entity tag with its quotes; `nil` sends none.
    package var etag: String?
    /// The value of `Last-Modified`; `nil` sends none.
    package var lastModified: String?
    /// Further headers of every answer with this resource (`Cache-Control`, …).
    package var headers: [HTTPField]

    /// A resource with a strong entity tag made from `bytes`, and a fixed date.
    package init(
        _ bytes: [UInt8],
        contentType: String = "audio/mpeg",
        lastModified: String? = "Mon, 01 Jan 2024 00:00:00 GMT",
        headers: [HTTPField] = []
    ) {
        self.bytes = bytes
        self.contentType = contentType
        self.etag = ContentTag.etag(of: bytes)
        self.lastModified = lastModified
        self.headers = headers
    }

    /// A resource of text, in UTF-8.
    package init(text: String, contentType: String = "text/html") {
        self.init(Array(text.utf8), contentType: contentType)
    }

    /// The content type that the origin gives to a file of this name.
    package static func contentType(of name: String) -> String { ContentType.of(name) }

    var representation: Representation {
        Representation(
            source: .memory(bytes),
            length: Int64(bytes.count),
            contentType: contentType,
            etag: etag,
            lastModified: lastModified,
            headers: headers
        )
    }
}

/// The body and metadata of a resource at the time of one request.
struct Representation: Sendable {
    var source: BodySource
    var length: Int64
    var contentType: String
    var etag: String?
    var lastModified: String?
    var headers: [HTTPField] = []

    /// Applies the `faults` that change the resource itself, not the answer.
    func changed(by faults: [Fault], for request: RequestHead) -> Representation {
        var changed = self
        for fault in faults {
            switch fault {
            case .gzip:
                let bytes = Gzip.compressed(Array(source.bytes(at: 0, count: Int(length))))
                changed.source = .memory(bytes)
                changed.length = Int64(bytes.count)
                changed.etag = etag.map { $0.dropLast() + "-gzip\"" }
                changed.headers.append(HTTPField("Content-Encoding", "gzip"))
            case .live(let stream):
                let hasTitles = request.fields["Icy-MetaData"] == "1"
                let music = Array(source.bytes(at: 0, count: Int(length)))
                changed.source = .live(LiveBody(stream: stream, music: music, hasTitles: hasTitles))
                changed.length = LiveStream.length
                changed.etag = nil
                changed.lastModified = nil
                changed.headers += stream.fields(withTitles: hasTitles)
            default: break
            }
        }
        return changed
    }
}

/// The origin of a body's bytes.
enum BodySource: Sendable {
    case memory([UInt8])
    case file(OpenFile)
    case live(LiveBody)

    /// Up to `count` bytes from `offset`; empty past the end, or when the file can no longer be read.
    func bytes(at offset: Int64, count: Int) -> ArraySlice<UInt8> {
        switch self {
        case .memory(let bytes):
            let start = Int(min(max(0, offset), Int64(bytes.count)))
            return bytes[start..<min(bytes.count, start + count)]
        case .file(let file):
            return file.bytes(at: offset, count: count)[...]
        case .live(let body):
            return body.bytes(at: offset, count: count)[...]
        }
    }
}

/// A regular file open for reading.
final class OpenFile: Sendable {
    private let descriptor: Int32

    /// Takes ownership of `descriptor` and closes it in `deinit`.
    init(takingOver descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// The file's metadata; `nil` if `fstat` fails.
    var status: stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// Up to `count` bytes from `offset`; short only at the end or when the file cannot be read.
    ///
    /// Blocks on the disk, which is acceptable in a test server.
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let rest = UnsafeMutableBufferPointer(rebasing: buffer[filled..<count])
                let result = pread(descriptor, rest.baseAddress, rest.count, Int(offset) + filled)
                if result < 0 && errno == EINTR { continue }
                guard result > 0 else { return }
                filled += result
            }
        }
    }
}

/// Writes the gzip format (RFC 1952) without compression: all blocks are stored blocks (RFC 1951 §3.2.4).
enum Gzip {
    private static let mostPerBlock = 65_535

    /// `bytes` as one gzip member.
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        // Magic, deflate, no flags, no time, no extra flags, unknown system.
        var result: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        var offset = 0
        repeat {
            let count = min(mostPerBlock, bytes.count - offset)
            let isLast = offset + count == bytes.count
            result += [isLast ? 1 : 0] + little(UInt32(count)).prefix(2) + little(~UInt32(count)).prefix(2)
            result += bytes[offset..<offset + count]
            offset += count
        } while offset < bytes.count
        return result + little(checksum(of: bytes)) + little(UInt32(truncatingIfNeeded: bytes.count))
    }

    private static func little(_ number: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// CRC-32 (RFC 1952 §8).
    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { sum, byte in
            table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8)
        }
    }
}
