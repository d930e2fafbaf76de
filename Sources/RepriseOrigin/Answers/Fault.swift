/// One way in which an answer can be wrong. Several may go together.
package enum Fault: Sendable, Equatable {
    /// The connection is closed after this many bytes of the body.
    case cut(afterBytes: Int64)
    /// Nothing is sent after this many bytes of the body, until the client leaves.
    case stall(afterBytes: Int64)
    /// The request is read and never answered.
    case silence
    /// A `Range` header is not understood: 200 and the whole body, no `Accept-Ranges`.
    case ignoresRanges
    /// `If-Range` counts as matching, whatever it says.
    case ignoresIfRange
    /// Neither `ETag` nor `Last-Modified`; conditions never match.
    case noValidators
    /// Another entity tag than the content's, quotes included; nil sends none.
    case etag(String?)
    /// Another date than the resource's; nil sends none.
    case lastModified(String?)
    /// This status with a short page of text instead of the resource.
    case status(Int)
    /// 200 and a page of HTML instead of the resource, as captive portals do.
    case htmlPage
    /// This `Location`, with a status of 301, 302, 303, 307 or 308.
    case redirect(status: Int, location: String)
    /// Another `Content-Range` than the right one, for a 206; nil sends none.
    case contentRange(String?)
    /// The body of a 206, and what its `Content-Range` says, starts this many bytes later than asked
    /// (earlier when negative), inside the resource.
    case shiftedRange(by: Int64)
    /// `Content-Range` says `*` for the length of the resource.
    case unknownTotal
    /// Another `Content-Length` than the right one. A body longer than it is cut there.
    case contentLength(Int64)
    /// Chunked transfer coding, so that no length is told.
    case chunked
    /// No length; the body ends with the connection.
    case closeDelimited
    /// This field is added, or takes the place of the one with its name; nil takes it away.
    case field(String, String?)
    /// Other bytes in place of the resource's, repeated over its length, with its validators.
    case otherBytes([UInt8])
    /// Any `Range` header is answered with this status and a page; requests without one are answered well.
    case refusesRanges(status: Int)
    /// A 206 brings at most this many bytes of what was asked for, and says so.
    case shortParts(atMost: Int64)
    /// `Content-Range` says this for the length of the resource, right or wrong.
    case total(Int64)
    /// What `Content-Range` says in a 416; nil sends none.
    case unsatisfied(String?)
    /// A 206 comes as `multipart/byteranges` with one part.
    case multipart
    /// `Content-Length` is larger than the body by this much, or smaller when negative: the body is cut there.
    case lengthOff(by: Int64)
    /// The resource is really compressed with gzip, whatever was asked for; ranges count compressed bytes.
    case gzip
    /// An endless stream, as radio stations send it.
    case live(LiveStream)
    /// What the status line begins with in place of `HTTP/1.1`: `HTTP/1.0`, or `ICY`. The connection ends
    /// with the answer, and a body in chunks becomes one that ends with it.
    case protocolName(String)
    /// One more field, also where there is one with its name.
    case addedField(String, String)
    /// Every field comes this many times.
    case repeatedFields(Int)
    /// All names of fields are in lower case.
    case lowerCaseFields
    /// Every value but that of `Content-Length` stands on a line of its own below its name (RFC 9112 §5.2, obsolete).
    case foldedFields
    /// Further fields of this many bytes together.
    case paddedHead(bytes: Int)
    /// 401 unless the request has this field with this value.
    case demandsField(String, String)
    /// This status unless the query is this one: an address that expires.
    case demandsQuery(String, status: Int)
}
