/// What a session's user interface is given.
struct InterfaceSettings: Sendable {
    var screen = ScreenSettings()
    /// What is taken over from the last session and left to the next; nil where nothing is.
    var memory: SessionMemory?
    /// Where libraries write while a screen is up; nil where there is no such place.
    var logFile: String?
}
