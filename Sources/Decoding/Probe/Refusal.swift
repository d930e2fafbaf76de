import Media

/// The reason why a stream is not played, in one phrase that begins with what it holds.
struct Refusal: Error, Equatable {
    let cause: SafeText

    /// `played` names what is played instead; `nil` if the phrase states it, or if nothing can be said.
    init(_ what: SafeText, played: SafeText? = nil) {
        cause = played.map { what + " – Reprise plays " + $0 + " only" } ?? what
    }

    static let damaged = Refusal("No sound in it (damaged or cut short)")

    static func aac(_ what: SafeText) -> Refusal { Refusal(what, played: "AAC LC and HE-AAC") }

    static func m4a(with codec: SafeText) -> Refusal {
        Refusal("M4A with " + codec, played: "M4A with AAC or ALAC")
    }

    /// The error for the resource `subject`. `isOpen` states that some of its music is played.
    func error(of subject: SafeText, isOpen: Bool = false) -> MediaError {
        MediaError(isOpen ? .decodingFailed : .notAudio, subject, cause)
    }
}
