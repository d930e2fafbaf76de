import CSodium

/// libsodium, made ready.
enum Sodium {
    private static let isReady = sodium_init() >= 0

    /// Chooses the fastest code for the processor, once; libsodium asks for it before any other call.
    static func start() {
        precondition(isReady, "libsodium cannot start")
    }
}
