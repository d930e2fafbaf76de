/// A resource that the origin keeps in memory.
package struct OriginResource: Sendable {
    /// The whole body.
    package var bytes: [UInt8]
    /// The value of `Content-Type`.
    package var contentType: String
    /// The entity tag with its quotes; nil sends none.
    package var etag: String?
    /// The value of `Last-Modified`; nil sends none.
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
