/// What a screen did not show, with what it showed instead.
struct ScreenFailure: Error, CustomStringConvertible {
    var description: String
}
