// In which ways an answer can be wrong.
extension Answer {
    /// What is refused whatever there is at the path.
    static func refusal(of request: RequestHead, by faults: [Fault]) -> Answer? {
        for fault in faults {
            switch fault {
            case .refusesRanges(let status) where request.fields["Range"] != nil:
                return page(status: status, text: "No ranges here.\n")
            case .demandsField(let name, let value) where request.fields[name] != value:
                var answer = page(status: 401, text: "Who are you?\n")
                answer.fields.append(HTTPField("WWW-Authenticate", "Basic realm=\"test\""))
                return answer
            case .demandsQuery(let query, let status) where request.query != query:
                return page(status: status, text: "This address has expired.\n")
            default: break
            }
        }
        return nil
    }

    /// Makes the answer to a request for something of `length` bytes wrong, before its head is finished.
    mutating func apply(_ faults: [Fault], length: Int64?) {
        for fault in faults {
            switch fault {
            case .cut(let count): interruption = .cut(afterBytes: count)
            case .stall(let count): interruption = .stall(afterBytes: count)
            case .silence: isSilent = true
            case .status(let code): self = .page(status: code, text: "This is status \(code).\n")
            case .htmlPage: self = .page(status: 200, text: Self.portal, type: "text/html")
            case .redirect(let code, let location):
                self = .page(status: code, text: "It is at \(location).\n")
                fields.append(HTTPField("Location", location))
            case .shiftedRange(let distance): shift(by: distance, length: length ?? 0)
            case .unknownTotal:
                if status == 206, case .resource(let range) = body {
                    fields.set("Content-Range", Self.contentRange(range, total: "*"))
                }
            case .contentRange(let value):
                if status == 206 { fields.set("Content-Range", value) }
            case .otherBytes(let pattern):
                if case .resource(let range) = body, !pattern.isEmpty { body = .pattern(pattern, range) }
            case .chunked: framing = .chunked
            case .closeDelimited: framing = .untilClose
            case .live: if status == 200 { framing = .untilClose }
            case .shortParts(let count): shorten(to: count, length: length ?? 0)
            case .total(let total):
                if status == 206, case .resource(let range) = body {
                    fields.set("Content-Range", Self.contentRange(range, total: "\(total)"))
                }
            case .unsatisfied(let value): if status == 416 { fields.set("Content-Range", value) }
            case .protocolName(let name):
                protocolName = name
                closes = true
                if framing == .chunked { framing = .untilClose }
            // These were taken into account before, or are when the head is finished.
            case .ignoresRanges, .ignoresIfRange, .noValidators, .etag, .lastModified, .contentLength, .field,
                .refusesRanges, .multipart, .lengthOff, .gzip, .addedField, .repeatedFields, .lowerCaseFields,
                .foldedFields, .paddedHead, .demandsField, .demandsQuery:
                break
            }
        }
    }

    private mutating func shift(by distance: Int64, length: Int64) {
        guard status == 206, case .resource(let range) = body else { return }
        let start = min(max(0, range.lowerBound + distance), length - 1)
        let shifted = start..<max(start + 1, range.upperBound)
        body = .resource(shifted)
        fields.set("Content-Range", Self.contentRange(shifted, total: "\(length)"))
    }

    private mutating func shorten(to count: Int64, length: Int64) {
        guard status == 206, count > 0, case .resource(let range) = body else { return }
        let short = range.lowerBound..<min(range.upperBound, range.lowerBound + count)
        body = .resource(short)
        fields.set("Content-Range", Self.contentRange(short, total: "\(length)"))
    }

    /// Puts the part of a 206 into a body of one part, between the lines that RFC 9110 §14.6 wants around it.
    mutating func wrapInMultipart(_ part: [UInt8]) {
        let range = fields["Content-Range"] ?? ""
        let type = fields["Content-Type"] ?? "application/octet-stream"
        let before = "--PART\r\nContent-Type: \(type)\r\nContent-Range: \(range)\r\n\r\n"
        fields.set("Content-Range", nil)
        fields.set("Content-Type", "multipart/byteranges; boundary=PART")
        body = .page(Array(before.utf8) + part + Array("\r\n--PART--\r\n".utf8))
    }

    /// Adds what the head says of the body and the connection, and the faults in how it says so.
    mutating func finish(_ request: RequestHead, _ faults: [Fault]) {
        // HTTP/1.0 knows no chunks.
        if framing == .chunked && request.isVersion1Point0 { framing = .untilClose }
        if status == 304 { framing = .length }
        switch framing {
        case .length: if status != 304 { fields.append(HTTPField("Content-Length", "\(length)")) }
        case .chunked: fields.append(HTTPField("Transfer-Encoding", "chunked"))
        case .untilClose: closes = true
        }
        for fault in faults {
            switch fault {
            case .contentLength(let count):
                fields.set("Content-Length", "\(count)")
                // What is left would be taken for the next answer.
                closes = true
                if count < length { interruption = interruption ?? .cut(afterBytes: count) }
            case .lengthOff(let distance) where framing == .length && status != 304:
                let stated = max(0, length + distance)
                fields.set("Content-Length", "\(stated)")
                closes = true
                if stated < length { interruption = interruption ?? .cut(afterBytes: stated) }
            case .field(let name, let value): fields.set(name, value)
            default: break
            }
        }
        if !request.keepsConnection { closes = true }
        if closes { fields.set("Connection", "close") }
        for fault in faults { applyToHead(fault) }
        if request.method == "HEAD" {
            body = .none
            framing = .length
        }
    }

    private mutating func applyToHead(_ fault: Fault) {
        switch fault {
        case .addedField(let name, let value): fields.append(HTTPField(name, value))
        case .repeatedFields(let count): fields = fields.flatMap { Array(repeating: $0, count: count) }
        case .lowerCaseFields: fields = fields.map { HTTPField($0.name.lowercased(), $0.value) }
        case .foldedFields: foldsFields = true
        case .paddedHead(let bytes):
            let line = 1_000
            for number in 0..<(bytes + line - 1) / line {
                fields.append(HTTPField("X-Padding-\(number)", String(repeating: "x", count: line)))
            }
        default: break
        }
    }

    private static let portal = "<!DOCTYPE html><title>Sign in</title><p>Sign in to use this network.</p>\n"
}
