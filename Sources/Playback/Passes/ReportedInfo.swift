import Media

/// What the player was told of a decoder's knowledge.
struct ReportedInfo {
    private var revision: Int
    /// Where the pass began, as it was told.
    private let landing: SeekLanding
    private var isCorrected = false

    init(of decoder: any AudioDecoder, landing: SeekLanding) {
        revision = decoder.infoRevision
        self.landing = landing
    }

    /// Whether the player takes the position for an estimate.
    var isEstimate: Bool { !landing.isExact && !isCorrected }

    /// What is known better since the last call. A correction is told once.
    mutating func news(of decoder: any AudioDecoder, by id: PassID) -> [PlayerInput] {
        guard decoder.infoRevision != revision else { return [] }
        revision = decoder.infoRevision
        var news = [PlayerInput.infoChanged(id, decoder.info)]
        if isEstimate, let corrected = decoder.correctedLanding {
            isCorrected = true
            news.append(.landingCorrected(id, by: corrected.frame - landing.frame))
        }
        return news
    }
}
