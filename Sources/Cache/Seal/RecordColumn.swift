/// Where in the index a record stands: sealed for one column, it cannot be opened in another.
enum RecordColumn: Sendable {
    case about
    case seekPoints
    /// The `url` of a name.
    case name

    /// What is bound to a sealed record besides its entry.
    var name: [UInt8] {
        switch self {
        case .about: Array("about".utf8)
        case .seekPoints: Array("seek_points".utf8)
        case .name: Array("name".utf8)
        }
    }
}
