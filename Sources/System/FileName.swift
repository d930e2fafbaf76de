import Glibc

/// Paths of any bytes as text.
///
/// Linux allows all bytes but `/` and NUL in a file name, while a `String` holds only UTF-8. So each byte
/// that is not part of valid UTF-8 becomes a private scalar, U+10FF00 plus the byte, and the system gets the
/// same bytes back from the text. A name that contains these scalars itself counts as invalid UTF-8.
package enum FileName {
    private static let escapes: ClosedRange<UInt32> = 0x10FF00...0x10FFFF
    /// The first byte of all these scalars in UTF-8.
    private static let mark: UInt8 = 0xF4

    /// The text of `bytes`.
    package static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if !bytes.contains(mark), let text = String(utf8: bytes) { return text }
        var scalars = String.UnicodeScalarView()
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var index = 0
        while index < bytes.count {
            var length = 1
            switch parser.parseScalar(from: &input) {
            case .valid(let encoded):
                length = encoded.count
                let scalar = Unicode.UTF8.decode(encoded)
                if !escapes.contains(scalar.value) {
                    scalars.append(scalar)
                    index += length
                    continue
                }
            case .error(let count): length = count
            case .emptyInput: return String(scalars)
            }
            for byte in bytes[index..<index + length] {
                Unicode.Scalar(escapes.lowerBound + UInt32(byte)).map { scalars.append($0) }
            }
            index += length
        }
        return String(scalars)
    }

    /// The text of `bytes`.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        Array(bytes).withUnsafeBufferPointer { text($0) }
    }

    /// The bytes of which `path` is the text.
    package static func bytes(of path: String) -> [UInt8] {
        guard path.contains(byte: mark) else { return Array(path.utf8) }
        return path.unicodeScalars.flatMap { scalar in
            escapedByte(scalar).map { [$0] } ?? Array(String(scalar).utf8)
        }
    }

    /// The text of a path that the system returned.
    package static func text(_ path: UnsafePointer<CChar>) -> String {
        text(UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }

    /// `path` with symbolic links, `.` and `..` resolved; `path` itself if there is no such file.
    package static func realPath(of path: String) -> String {
        guard let real = realpath(cString(path), nil) else { return path }
        defer { free(real) }
        return text(real)
    }

    /// The bytes of `path` and a NUL, to be passed to a system call in place of the text.
    package static func cString(_ path: String) -> [CChar] {
        bytes(of: path).map { CChar(bitPattern: $0) } + [0]
    }

    /// `true` if the bytes of `path` are UTF-8.
    package static func isUTF8(_ path: String) -> Bool {
        !path.contains(byte: mark) || !path.unicodeScalars.contains { escapes.contains($0.value) }
    }

    /// The byte that `scalar` stands for; `nil` if it is a scalar of its own.
    package static func escapedByte(_ scalar: Unicode.Scalar) -> UInt8? {
        escapes.contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
    }
}

extension String {
    /// Decodes `bytes`; `nil` if they are not UTF-8.
    package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        // The standard library checks text through generic code, which costs time in lists of many short
        // texts.
        if bytes.allSatisfy({ $0 < 0x80 }) {
            self.init(decoding: bytes, as: UTF8.self)
        } else {
            self.init(validating: bytes, as: UTF8.self)
        }
    }

    /// `true` if `byte` is one of the bytes of the text in UTF-8. An empty text has none.
    package func contains(byte: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
        } ?? utf8.contains(byte)
    }
}
