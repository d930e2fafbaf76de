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
        var digits = [CChar](repeating: 0, count: Self.size * 2 + 1)
        sodium_bin2hex(&digits, digits.count, bytes, bytes.count)
        return String(decoding: digits.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "\n"
    }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses the text of a secret's file. Also accepts upper case and a missing line break; `nil` for
    /// anything else.
    init?(fileText text: [UInt8]) {
        let digits = (text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]).map {
            CChar(bitPattern: $0)
        }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        var count = 0
        guard sodium_hex2bin(&bytes, bytes.count, digits, digits.count, nil, &count, nil) == 0,
            count == Self.size
        else { return nil }
        self.init(bytes: bytes)
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
}

// Without these, a string interpolation would print the secret.
extension CacheSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the secret itself.
    package var description: String { "…" }
    package var debugDescription: String { "…" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
