/// The folder is sealed otherwise than by the secret that was given.
enum SealError: Error, CustomStringConvertible {
    case wrongSecret
    case secretMissing
    case notSealed

    var description: String {
        switch self {
        case .wrongSecret: "it is sealed with another secret; give that one, or name another folder"
        case .secretMissing: "it is sealed; give its secret with --cache-secret, or name another folder"
        case .notSealed: "it is not sealed, and a secret was given; leave that out, or name another folder"
        }
    }
}
