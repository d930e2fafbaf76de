import Media

// Making music equally loud.
extension PlayerState {
    mutating func setGain(_ mode: GainMode) -> [PlayerEffect] {
        gainMode = mode
        return runs.flatMap { gainEffects(of: $0) }
    }

    func gainEffects(of run: Run) -> [PlayerEffect] {
        run.info == nil ? [] : [.setGain(run.id, gainStage(of: run))]
    }

    private func gainStage(of run: Run) -> GainStage { run.info?.loudness?.stage(for: gainMode) ?? .unity }

    /// What the current track is made louder by, in dB; nil where it is left as it is.
    var gainDecibels: Double? { runs.first.flatMap { gainStage(of: $0).decibels } }
}
