internal import Glibc

/// An encoding of text that is not UTF-8, such as windows-1251 or UTF-16, decoded by the C library
/// (iconv(3)).
///
/// Known are the encodings that browsers know, under the labels of the Encoding Standard and some more. The C
/// library knows more encodings, but some of its decoders are rarely used and have had grave faults, so no
/// document may choose one of them.
package struct TextEncoding: Sendable, Equatable {
    package static let windows1252 = TextEncoding(known: "CP1252")
    package static let windows1251 = TextEncoding(known: "CP1251")

    /// The C library's name of the encoding.
    private let name: String

    private init(known name: String) { self.name = name }

    /// The encoding with this label in any case, such as `windows-1251`, `GBK` or `ISO-8859-2`; `nil` if it
    /// is unknown or if the C library lacks it.
    package init?(_ label: some StringProtocol) {
        let plain = label.prefix(40).lowercased().filter { $0.isLetter || $0.isNumber }
        guard let name = Self.names[plain] ?? Self.familyName(plain) else { return nil }
        self.name = name
        guard let handle = open() else { return nil }
        iconv_close(handle)
    }

    /// The encoding that the byte order mark at the start of `bytes` shows; `nil` if there is no mark.
    package init?(ofMark bytes: some Sequence<UInt8>) {
        let mark = Array(bytes.prefix(4))
        guard let found = Self.marks.first(where: { mark.starts(with: $0.bytes) }) else { return nil }
        name = found.name
    }

    /// Decodes `bytes`, without a byte order mark in front. A byte that the encoding does not define becomes
    /// U+FFFD, as does an incomplete character at the end.
    package func string(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        // A small system may lack the C library's tables: most scripts then lose their letters, but not
        // Western ones.
        guard let handle = open() else {
            return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
        defer { iconv_close(handle) }
        let text = String(decoding: Self.utf8(bytes, by: handle), as: UTF8.self)
        return text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }

    /// Decodes `bytes`, as the other function of this name does.
    package func string(_ bytes: some Sequence<UInt8>) -> String {
        Array(bytes).withUnsafeBufferPointer { string($0) }
    }

    /// A handle of iconv, which must not be shared between threads; `nil` if the C library lacks the encoding
    /// or memory.
    private func open() -> iconv_t? {
        let handle = iconv_open("UTF-8", name)
        return handle == iconv_t(bitPattern: -1) ? nil : handle
    }

    private static func utf8(_ bytes: UnsafeBufferPointer<UInt8>, by handle: iconv_t) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var input = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
        var left = bytes.count
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { room in
            while true {
                var output = room.baseAddress
                var free = room.count
                // At the end, a call without input fetches a letter that waited for its accent.
                let isEnd = left == 0
                let outcome =
                    isEnd
                    ? iconv(handle, nil, nil, &output, &free) : iconv(handle, &input, &left, &output, &free)
                let reason = errno
                result += UnsafeRawBufferPointer(room).prefix(room.count - free)
                if isEnd { return }
                if outcome >= 0 || (reason == E2BIG && free < room.count) { continue }
                result += "\u{FFFD}".utf8
                guard reason == EILSEQ, left > 0 else { return }
                input = input?.successor()
                left -= 1
            }
        }
        return result
    }

    /// The C library's name for a label of letters and digits from one of the families that are numbered.
    private static func familyName(_ label: String) -> String? {
        for (prefix, family) in [("windows", "CP"), ("xcp", "CP"), ("cp", "CP"), ("iso8859", "ISO-8859-")]
        where label.hasPrefix(prefix) {
            guard let number = Int(label.dropFirst(prefix.count)) else { return nil }
            return (family == "CP" ? 1_250...1_258 : 2...16).contains(number) ? family + String(number) : nil
        }
        return nil
    }

    /// The C library's names for other labels. As in browsers, a label means the larger encoding that texts
    /// really have.
    private static let names = [
        "ascii": "CP1252", "usascii": "CP1252", "latin1": "CP1252", "iso88591": "CP1252",
        "latin2": "ISO-8859-2", "iso88599": "CP1254", "latin5": "CP1254", "iso885911": "CP874",
        "tis620": "CP874", "windows874": "CP874", "cp866": "CP866", "ibm866": "CP866", "koi8r": "KOI8-R",
        "koi8u": "KOI8-U", "macintosh": "MACINTOSH", "xmaccyrillic": "MAC-CYRILLIC", "gbk": "GB18030",
        "gb2312": "GB18030", "gb18030": "GB18030", "cp936": "GB18030", "big5": "BIG5-HKSCS",
        "cp950": "BIG5-HKSCS", "big5hkscs": "BIG5-HKSCS", "shiftjis": "CP932", "sjis": "CP932",
        "xsjis": "CP932", "windows31j": "CP932", "cp932": "CP932", "eucjp": "EUC-JP",
        "iso2022jp": "ISO-2022-JP", "euckr": "CP949", "ksc56011987": "CP949", "cp949": "CP949",
        "utf8": "UTF-8", "utf16": "UTF-16LE", "utf16le": "UTF-16LE", "utf16be": "UTF-16BE",
        "utf32": "UTF-32LE", "utf32le": "UTF-32LE", "utf32be": "UTF-32BE",
    ]

    /// The longest mark comes first where another one begins it.
    private static let marks: [(bytes: [UInt8], name: String)] = [
        ([0xEF, 0xBB, 0xBF], "UTF-8"), ([0xFF, 0xFE, 0, 0], "UTF-32LE"), ([0, 0, 0xFE, 0xFF], "UTF-32BE"),
        ([0xFF, 0xFE], "UTF-16LE"), ([0xFE, 0xFF], "UTF-16BE"),
    ]
}
