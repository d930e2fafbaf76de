/// One object of `--json`, with the fields that these tests look at.
struct BadInputEvent: Decodable, Equatable {
    struct Failure: Decodable, Equatable {
        var code: String
        var message: String
    }

    struct Bytes: Decodable, Equatable {
        var cached: Int64
        var fetched: Int64
    }

    var event: String
    var t: Double
    var index: Int?
    var source: String?
    var title: String?
    var artist: String?
    var tracks: Int?
    var reason: String?
    var frames: Int64?
    var requests: Int?
    var stalls: Int?
    var bytes: Bytes?
    var error: Failure?
    var code: String?
    var message: String?
    var played: Int?
    var failed: Int?
}
