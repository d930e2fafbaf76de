/// One line of the player's JSON, as far as these tests look at it.
struct ExactEvent: Decodable, Sendable {
    struct Bytes: Decodable, Sendable {
        var cached: Int64
        var fetched: Int64
    }

    struct Failure: Decodable, Sendable {
        var code: String
        var message: String
    }

    var event: String
    var index: Int?
    var position: Double?
    var exact: Bool?
    var reason: String?
    var frames: Int64?
    var bytes: Bytes?
    var requests: Int?
    var code: String?
    var message: String?
    var error: Failure?
}
