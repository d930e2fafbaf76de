/// Why a test could not be carried out.
struct ExactFailure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
