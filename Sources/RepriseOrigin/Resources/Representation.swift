/// What one request gets of a resource: its body and what is said of it at that moment.
struct Representation: Sendable {
    var source: BodySource
    var length: Int64
    var contentType: String
    var etag: String?
    var lastModified: String?
    var headers: [HTTPField] = []

    /// What `faults` make of it before anything is answered.
    func changed(by faults: [Fault], for request: RequestHead) -> Representation {
        var changed = self
        for fault in faults {
            switch fault {
            case .gzip:
                let bytes = Gzip.compressed(Array(source.bytes(at: 0, count: Int(length))))
                changed.source = .memory(bytes)
                changed.length = Int64(bytes.count)
                changed.etag = etag.map { $0.dropLast() + "-gzip\"" }
                changed.headers.append(HTTPField("Content-Encoding", "gzip"))
            case .live(let stream):
                let hasTitles = request.fields["Icy-MetaData"] == "1"
                let music = Array(source.bytes(at: 0, count: Int(length)))
                changed.source = .live(LiveBody(stream: stream, music: music, hasTitles: hasTitles))
                changed.length = LiveStream.length
                (changed.etag, changed.lastModified) = (nil, nil)
                changed.headers += stream.fields(withTitles: hasTitles)
            default: break
            }
        }
        return changed
    }
}
