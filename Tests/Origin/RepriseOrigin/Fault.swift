/// A way in which an answer deviates from a correct one. Faults can be combined.
package enum Fault: Sendable, Equatable {
    /// The connection is closed after this many bytes of the body.
    case cut(afterBytes: Int64)
    /// Nothing is sent after this many bytes of the body, until the client leaves.
    case stall(afterBytes: Int64)
    /// The request is read and never answered.
    case silence
    /// `Range` is ignored: 200 and the whole body, no `Accept-Ranges`.
    case ignoresRanges
    /// `If-Range` counts as matching, whatever it says.
    case ignoresIfRange
    /// Neither `ETag` nor `Last-Modified`; conditions never match.
    case noValidators
    /// Another entity tag than the content's, quotes included; `nil` sends none.
    case etag(String?)
    /// Another date than the resource's; `nil` sends none.
    case lastModified(String?)
    /// This status with a short page of text instead of the resource.
    case status(Int)
    /// 200 and a page of HTML instead of the resource, as captive portals do.
    case htmlPage
    /// This `Location`, with a status of 301, 302, 303, 307 or 308.
    case redirect(status: Int, location: String)
    /// A wrong `Content-Range` in a 206; `nil` sends none.
    case contentRange(String?)
    /// The body of a 206, and what its `Content-Range` says, starts this many bytes later than asked
    /// (earlier when negative), inside the resource.
    case shiftedRange(by: Int64)
    /// `Content-Range` states `*` for the length of the resource.
    case unknownTotal
    /// A wrong `Content-Length`. A longer body is cut there.
    case contentLength(Int64)
    /// Chunked transfer coding, so the length is unknown.
    case chunked
    /// No length; the body ends with the connection.
    case closeDelimited
    /// Adds this field or replaces the one of this name; `nil` removes it.
    case field(String, String?)
    /// Other bytes in place of the resource's, repeated over its length, with its validators.
    case otherBytes([UInt8])
    /// Requests with `Range` are answered with this status and a page; others are answered correctly.
    case refusesRanges(status: Int)
    /// A 206 has at most this many of the requested bytes, and states so.
    case shortParts(atMost: Int64)
    /// `Content-Range` states this length of the resource, right or wrong.
    case total(Int64)
    /// The `Content-Range` of a 416; `nil` sends none.
    case unsatisfied(String?)
    /// A 206 comes as `multipart/byteranges` with one part.
    case multipart
    /// `Content-Length` is larger than the body by this much, or smaller when negative: the body is cut
    /// there.
    case lengthOff(by: Int64)
    /// The resource is sent with gzip coding, whatever the request accepts; ranges count encoded bytes.
    case gzip
    /// An endless stream, as radio stations send it.
    case live(LiveStream)
    /// The protocol name in place of `HTTP/1.1`: `HTTP/1.0` or `ICY`. The connection ends
    /// with the answer, so a chunked body becomes one that ends with the connection.
    case protocolName(String)
    /// One more field, even if one of this name exists.
    case addedField(String, String)
    /// Every field is sent this many times.
    case repeatedFields(Int)
    /// All field names are in lower case.
    case lowerCaseFields
    /// Every value except that of `Content-Length` is folded onto the next line (RFC 9112 §5.2, obsolete).
    case foldedFields
    /// Additional fields of this many bytes in total.
    case paddedHead(bytes: Int)
    /// 401 unless the request has this field with this value.
    case demandsField(String, String)
    /// This status unless the query is this one: an address that expires.
    case demandsQuery(String, status: Int)
}
