/// What one request gets of a resource: its body and what is said of it at that moment.
struct Representation: Sendable {
    var source: BodySource
    var length: Int64
    var contentType: String
    var etag: String?
    var lastModified: String?
    var headers: [HTTPField] = []
}
