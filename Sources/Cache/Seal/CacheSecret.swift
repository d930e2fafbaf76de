import CSodium
import Glibc
package import Media
import System

/// The secret of a sealed cache: 32 random bytes.
package struct CacheSecret: Sendable, Equatable {
    let bytes: [UInt8]

    static let size = 32

    /// A new secret, from the system's random numbers.
    package static func generate() -> CacheSecret {
        Sodium.start()
        var bytes = [UInt8](repeating: 0, count: size)
        randombytes_buf(&bytes, bytes.count)
        return CacheSecret(bytes: bytes)
    }

    /// The text of a secret's file: 64 hexadecimal digits and a line break.
    package var fileText: String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) + "\n"
    }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses the text of a secret's file. Also accepts upper case and a missing line break; `nil` for
    /// anything else.
    init?(fileText text: [UInt8]) {
        let digits = (text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]).map(Self.value)
        guard digits.count == Self.size * 2, !digits.contains(nil) else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).map {
            (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0)
        }
    }

    /// Reads the secret from the file at `path`.
    ///
    /// It must be a plain file of the user's own that nobody else can read (0600 or 0400). Throws
    /// `MediaError` with `.cacheSecret`, which never repeats the content of the file.
    package init(file path: String) throws(MediaError) {
        func refuse(_ cause: SafeText) -> MediaError {
            MediaError(.cacheSecret, SafeText("cache secret \(path)"), cause)
        }
        // Non-blocking in case it is a pipe, which is refused below.
        let descriptor = open(FileName.cString(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw refuse(SafeText("can't read: \(SystemError.reason())"))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw refuse("is not a regular file")
        }
        guard status.st_uid == geteuid() else { throw refuse("belongs to another user") }
        guard status.st_mode & 0o077 == 0 else { throw refuse("can be read by other users; chmod 600 it") }
        guard let text = try? WholeFile.read(descriptor, limit: Self.size * 2 + 2),
            let secret = CacheSecret(fileText: text)
        else {
            throw refuse("does not hold a secret; make one with 'reprise cache keygen'")
        }
        self = secret
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }
}

// Without these, a string interpolation would print the secret.
extension CacheSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the secret itself.
    package var description: String { "…" }
    package var debugDescription: String { "…" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
