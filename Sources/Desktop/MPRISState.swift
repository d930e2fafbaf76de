import Media

/// Decides which signals the bus gets: it remembers what its listeners were told last. Pure.
struct MPRISState: Sendable {
    /// The player at one moment.
    struct Moment: Sendable {
        var facts: MPRISFacts
        var position: Duration
        /// `true` if the position advances.
        var isMoving: Bool
        /// On the player's clock.
        var time: Duration

        init(_ snapshot: PlayerSnapshot, at time: Duration) {
            facts = MPRISFacts(snapshot)
            position = snapshot.position
            isMoving = snapshot.state == .playing
            self.time = time
        }

        /// The position at `now`, which may be later. Snapshots are up to a second apart.
        func position(at now: Duration) -> Duration {
            let place = isMoving ? position + max(.zero, now - time) : position
            return max(.zero, facts.duration.map { min(place, $0) } ?? place)
        }
    }

    /// Listeners compute the position from the last one they were told. If they are off by more, they are
    /// told again: after a seek, a wait for bytes, a start in the middle, and a return to the beginning. Less
    /// is neither seen in a bar, nor is it worth a message.
    static let tolerance = Duration.milliseconds(500)

    /// `nil` until the player is on the bus.
    private var told: MPRISFacts?
    /// The position that listeners assume, and the time to which it belongs.
    private var assumed = (position: Duration.zero, time: Duration.zero)

    /// The player appears on the bus: listeners now ask for everything.
    mutating func appeared(with moment: Moment) {
        told = moment.facts
        assumed = (moment.position, moment.time)
    }

    /// The player is no longer on the bus.
    mutating func disappeared() { told = nil }

    /// `true` if `moment` needs signals.
    func needsSignals(for moment: Moment) -> Bool {
        guard let told else { return false }
        return told != moment.facts || isJump(moment, after: told)
    }

    /// The signals that `moment` needs: the properties that have changed, all in one, and a new position.
    mutating func signals(for moment: Moment) -> [BusSignal] {
        guard let told else { return [] }
        var signals: [BusSignal] = []
        let isJump = isJump(moment, after: told)
        if told != moment.facts {
            let old = told.properties
            let changed = moment.facts.properties.filter { old[$0.key] != $0.value }
            if !changed.isEmpty {
                let arguments: [BusValue] = [
                    .string(MPRISInterface.player.name), .map(changed), .strings([]),
                ]
                signals.append(
                    BusSignal(
                        interface: MPRISInterface.properties.name,
                        member: "PropertiesChanged",
                        arguments: arguments
                    )
                )
            }
            if told.track != moment.facts.track || told.status != moment.facts.status {
                assumed = (assumedPosition(in: moment, after: told), moment.time)
            }
            self.told = moment.facts
        }
        if isJump {
            let place = moment.position(at: moment.time)
            assumed = (place, moment.time)
            let value = BusValue.int64(place.wholeMicroseconds)
            signals.append(
                BusSignal(interface: MPRISInterface.player.name, member: "Seeked", arguments: [value])
            )
        }
        return signals
    }

    private func isJump(_ moment: Moment, after told: MPRISFacts) -> Bool {
        guard moment.facts.track != nil, moment.facts.status != .stopped else { return false }
        let place = moment.position(at: moment.time)
        func isFar(from other: Duration) -> Bool { max(place - other, other - place) > Self.tolerance }
        guard isFar(from: assumedPosition(in: moment, after: told)) else { return false }
        // While bytes are awaited, listeners go on, so they are told where playing stands only once.
        let isWaiting = !moment.isMoving && moment.facts.status == .playing
        return !isWaiting || told.track != moment.facts.track || isFar(from: assumed.position)
    }

    /// The position that listeners assume at `moment`: another track is expected to begin at its beginning,
    /// as does one that was stopped.
    private func assumedPosition(in moment: Moment, after told: MPRISFacts) -> Duration {
        if told.track != moment.facts.track || told.status == .stopped { return .zero }
        let passed = told.status == .playing ? max(.zero, moment.time - assumed.time) : .zero
        let place = assumed.position + passed
        return told.duration.map { min(place, $0) } ?? place
    }
}
