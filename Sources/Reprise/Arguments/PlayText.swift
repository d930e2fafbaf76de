/// What is typed to play, not yet checked.
struct PlayText: Equatable {
    var sources: [String] = []
    var headless = false
    var json = false
    var plain = false
    var sink = standardSink
    var folder = FolderText()
    var bounds = BoundsText()
    var noCache = false
    var offline = false
    var refresh = false
    var readAhead: String?
    var fill = false
    var journal: String?
    var volume: String?
    var shuffle: Bool?
    var repeatMode: String?
    var gain: String?
    var fresh = false
    var noMouse = false
    var start: String?
    var seek: String?
    var network = NetworkText()
    var version = false

    static let standardSink = "pulse"
}
