import Media

// Making music equally loud.
extension PlayerState {
    mutating func setGain(_ mode: GainMode) -> [PlayerEffect] {
        gainMode = mode
        return passes.flatMap { gainEffects(of: $0) }
    }

    func gainEffects(of pass: Pass) -> [PlayerEffect] {
        pass.info == nil ? [] : [.setGain(pass.id, gainStage(of: pass))]
    }

    private func gainStage(of pass: Pass) -> GainStage { pass.info?.loudness?.stage(for: gainMode) ?? .unity }

    /// What the current track is made louder by, in dB; nil where it is left as it is.
    var gainDecibels: Double? { passes.first.flatMap { gainStage(of: $0).decibels } }
}
