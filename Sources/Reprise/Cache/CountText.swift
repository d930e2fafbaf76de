/// Numbers of things as people say them.
enum CountText {
    /// `1 entry`, `2 entries`.
    static func of(_ count: Int, _ one: String, _ many: String) -> String {
        "\(count) \(count == 1 ? one : many)"
    }
}
