internal import Glibc

/// Part of a playlist's bytes, parsed in place.
///
/// Lists of 100,000 entries open without a visible pause because only the fields that are used become
/// strings. A piece is valid only as long as the buffer that it points into.
@usableFromInline package typealias ByteText = UnsafeBufferPointer<UInt8>

extension UnsafeBufferPointer<UInt8> {
    /// The bytes at the offsets `range`, counted from the start of this piece.
    @inlinable package func piece(_ range: Range<Int>) -> ByteText { ByteText(rebasing: self[range]) }

    /// The piece without spaces and control characters at both ends.
    @inlinable package var trimmed: ByteText {
        var low = 0
        var high = count
        while low < high, self[low] <= 0x20 { low += 1 }
        while high > low, self[high - 1] <= 0x20 { high -= 1 }
        return piece(low..<high)
    }

    /// The piece without a leading UTF-8 byte order mark.
    @inlinable package var withoutByteOrderMark: ByteText {
        guard count >= 3, self[0] == 0xEF, self[1] == 0xBB, self[2] == 0xBF else { return self }
        return piece(3..<count)
    }

    /// The piece in UTF-8 if it is text in UTF-16 or UTF-32 with a byte order mark; `nil` otherwise.
    ///
    /// A frame of MPEG layer I may begin with the same bytes, but is no text.
    package var wideText: [UInt8]? {
        guard first != 0xEF, let encoding = TextEncoding(ofMark: self) else { return nil }
        let text = encoding.string(self)
        // The last character may be cut.
        let isText = !text.unicodeScalars.dropLast().contains { $0 == "\u{FFFD}" || $0.value == 0 }
        return isText ? Array(text.utf8) : nil
    }

    /// `true` if the piece begins with `prefix`, ignoring the case of ASCII letters; `prefix` must be in
    /// lower case.
    @inlinable package func starts(withLowercase prefix: StaticString) -> Bool {
        guard count >= prefix.utf8CodeUnitCount else { return false }
        for index in 0..<prefix.utf8CodeUnitCount where self[index].lowercaseLetter != prefix.utf8Start[index]
        {
            return false
        }
        return true
    }

    /// `true` if the piece begins with `prefix`.
    package func starts(with prefix: StaticString) -> Bool {
        guard let baseAddress, count >= prefix.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
    }

    /// `true` if both pieces have the same letters, ignoring the case of ASCII letters.
    @inlinable package func hasSameLetters(as other: ByteText) -> Bool {
        count == other.count && indices.allSatisfy { self[$0].lowercaseLetter == other[$0].lowercaseLetter }
    }

    /// `true` if the piece contains `word`, ignoring the case of ASCII letters; `word` must be in lower case.
    @inlinable package func contains(lowercase word: StaticString) -> Bool {
        guard count >= word.utf8CodeUnitCount else { return false }
        return (0...count - word.utf8CodeUnitCount).contains {
            piece($0..<$0 + word.utf8CodeUnitCount).starts(withLowercase: word)
        }
    }

    /// The offset of the first occurrence of `word`, from `start` on; `nil` if there is none.
    package func offset(of word: StaticString, from start: Int = 0) -> Int? {
        guard let base = baseAddress else { return nil }
        let length = word.utf8CodeUnitCount
        var place = start
        while place + length <= count,
            let found = memchr(base + place, Int32(word.utf8Start[0]), count - length + 1 - place)
        {
            place = UnsafeRawPointer(base).distance(to: found)
            if memcmp(found, word.utf8Start, length) == 0 { return place }
            place += 1
        }
        return nil
    }

    /// The number of bytes of the comment, declaration or processing instruction of XML at the start: all if
    /// its end is missing, `nil` if there is none.
    package var declarationLength: Int? {
        let isComment = starts(withLowercase: "<!--")
        guard isComment || starts(withLowercase: "<!") || starts(withLowercase: "<?") else { return nil }
        let end = isComment ? offset(of: "-->").map { $0 + 2 } : offset(of: ">")
        return end.map { $0 + 1 } ?? count
    }

    /// Calls `body` with each line that is not blank, trimmed. LF, CR and CRLF end lines.
    @inlinable package func forEachLine(_ body: (ByteText) throws -> Void) rethrows {
        var start = 0
        for index in 0...count where index == count || self[index] == 0x0A || self[index] == 0x0D {
            let line = piece(start..<index).trimmed
            start = index + 1
            if !line.isEmpty { try body(line) }
        }
    }

    /// Parses the leading decimal number as seconds. Returns `nil` if there is no number, if it is zero or
    /// negative (lists write -1 for an unknown length), or if it exceeds thirty years.
    package var leadingSeconds: Duration? {
        let whole = prefix(while: \.isDigit)
        guard let seconds = Int64(digits: whole), seconds < 1_000_000_000 else { return nil }
        var milliseconds = seconds * 1_000
        let rest = dropFirst(whole.count)
        if rest.first == UInt8(ascii: ".") {
            for (digit, place) in zip(rest.dropFirst().prefix(while: \.isDigit), [100, 10, 1] as [Int64]) {
                milliseconds += (Int64(digit) - 0x30) * place
            }
        }
        return milliseconds > 0 ? .milliseconds(milliseconds) : nil
    }
}
