import Media

/// The answers to the calls of other programs, and the commands that they give to the player. Pure.
struct MPRISCalls: Sendable {
    struct Answer: Sendable, Equatable {
        var values: [BusValue] = []
        var command: PlayerCommand?
    }

    let moment: MPRISState.Moment
    /// On the player's clock.
    let now: Duration

    /// Throws if there is no such method or property, if it takes other arguments, or if it is refused.
    func answer(_ call: BusCall) throws(BusError) -> Answer {
        // D-Bus allows a call without an interface.
        let interfaces = MPRISInterface.all.filter { call.interface.isEmpty || $0.name == call.interface }
        guard !interfaces.isEmpty else {
            throw BusError("UnknownInterface", "no interface \(call.interface)")
        }
        guard let method = interfaces.lazy.flatMap(\.methods).first(where: { $0.name == call.member }) else {
            throw BusError("UnknownMethod", "no method \(call.member)")
        }
        let signature = method.input.map(\.type).joined()
        guard call.signature == signature else {
            throw BusError("InvalidArgs", "\(call.member) takes (\(signature)), not (\(call.signature))")
        }
        let arguments = call.arguments
        switch call.member {
        case "Introspect": return Answer(values: [.string(MPRISInterface.introspection)])
        case "Get":
            let name = arguments[1].text ?? ""
            guard let value = try values(of: arguments[0])[name] else { throw Self.noProperty(name) }
            return Answer(values: [.variant(value)])
        case "GetAll": return Answer(values: [.map(try values(of: arguments[0]))])
        case "Set":
            guard case .variant(let value) = arguments[2] else { return Answer() }
            return Answer(command: try set(arguments[1].text ?? "", to: value, of: arguments[0]))
        case "OpenUri": return Answer(command: try open(arguments[0].text ?? ""))
        default: return Answer(command: command(call.member, arguments))
        }
    }

    private func command(_ member: String, _ arguments: [BusValue]) -> PlayerCommand? {
        switch member {
        case "Quit": .quit
        case "Next": .next
        case "Previous": .previous
        case "Pause": .pause
        case "PlayPause": .toggle
        case "Stop": .stop
        case "Play": .play
        case "Seek":
            if case .int64(let offset) = arguments[0] { seek(by: .microseconds(offset)) } else { nil }
        case "SetPosition":
            if case .int64(let place) = arguments[1] {
                seek(to: .microseconds(place), of: arguments[0].text)
            } else {
                nil
            }
        default: nil
        }
    }

    private var position: Duration { moment.position(at: now) }

    /// As the specification asks: a seek beyond the end goes on to the next track.
    private func seek(by offset: Duration) -> PlayerCommand? {
        guard moment.facts.isSeekable else { return nil }
        // A live stream has no position of its own, only a distance from now.
        guard let duration = moment.facts.duration else { return .seek(.by(offset)) }
        // By a distance, which the player counts from where it is by then: the next one may come before its
        // snapshot does.
        return position + offset > duration ? .next : .seek(.by(offset))
    }

    /// As the specification asks: a seek that comes too late for its track, or that leads out of it, does
    /// nothing.
    private func seek(to place: Duration, of track: String?) -> PlayerCommand? {
        let facts = moment.facts
        guard facts.isSeekable, let current = facts.track, track == facts.trackPath, place >= .zero,
            let duration = facts.duration, place <= duration
        else { return nil }
        // The next track may begin before the command is carried out.
        return .setPosition(place, of: current)
    }

    private func open(_ uri: String) throws(BusError) -> PlayerCommand {
        let scheme = uri.prefix { $0 != ":" }.lowercased()
        guard ["file", "http", "https"].contains(scheme), uri.dropFirst(scheme.count).hasPrefix(":") else {
            throw BusError("NotSupported", "only file, http and https URIs")
        }
        return .open(uri)
    }

    // MARK: Properties

    private static func noProperty(_ name: String) -> BusError {
        BusError("UnknownProperty", "no property \(name)")
    }

    private func values(of interface: BusValue) throws(BusError) -> [String: BusValue] {
        switch interface.text {
        case MPRISInterface.root.name: return MPRISFacts.root
        case MPRISInterface.player.name:
            var values = moment.facts.properties
            values["Position"] = .int64(position.wholeMicroseconds)
            values["CanControl"] = .bool(true)
            return values
        case MPRISInterface.introspectable.name, MPRISInterface.properties.name: return [:]
        default: throw BusError("UnknownInterface", "no interface \(interface.text ?? "")")
        }
    }

    private func set(
        _ name: String,
        to value: BusValue,
        of interface: BusValue
    ) throws(BusError) -> PlayerCommand? {
        guard try values(of: interface)[name] != nil else { throw Self.noProperty(name) }
        let properties = MPRISInterface.all.flatMap(\.properties)
        guard let property = properties.first(where: { $0.name == name && $0.isWritable }) else {
            throw BusError("PropertyReadOnly", "\(name) can't be set")
        }
        let refusal = BusError("InvalidArgs", "\(name) can't be set to this value")
        switch (name, value) {
        case ("LoopStatus", .string(let status)):
            guard let mode = RepeatMode(loopStatus: status) else { throw refusal }
            return .setRepeat(mode)
        case ("Shuffle", .bool(let isOn)): return .setShuffle(isOn)
        case ("Volume", .double(let volume)) where !volume.isNaN:
            // As the specification asks, less than 0 is 0.
            return .volume(Int((max(0, min(1, volume)) * 100).rounded()))
        // As the specification asks, a rate of 0 pauses. There is no other rate than 1.
        case ("Rate", .double(let rate)): return rate == 0 ? .pause : nil
        default:
            guard value.signature == property.type else {
                throw BusError("InvalidArgs", "\(name) has the type \(property.type), not \(value.signature)")
            }
            throw refusal
        }
    }
}
