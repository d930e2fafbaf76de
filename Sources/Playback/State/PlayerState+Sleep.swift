import Media

// The sleep timer.
extension PlayerState {
    /// The most tracks of an album whose lengths are added up.
    private static let mostAlbumTracks = 100

    /// Sets the timer, or with `nil` switches it off. To pause after the track or album is to stop there.
    mutating func setSleep(_ goal: SleepGoal?) -> [PlayerEffect] {
        let text: SafeText =
            switch goal {
            case .time(let time): SafeText("Pauses after \(time.clockTime) of music")
            case .after(let point): SafeText("Sleeps after this \(point.rawValue)")
            case nil: "Sleep timer off"
            }
        let point: PlayPoint? = if case .after(let point) = goal { point } else { nil }
        let isStopChanged = point != nil || sleep.point != nil
        let fade = wake()
        sleep.set(goal)
        return [announcer.remark("sleep", text)] + fade + (isStopChanged ? stop(after: point) : [])
    }

    /// Switches the timer off, and its fade.
    mutating func wake() -> [PlayerEffect] {
        let wasFading = sleep.isFading
        sleep.set(nil)
        return wasFading ? [.endFade] : []
    }

    /// Carries out what the timer demands now.
    mutating func sleepIfDue() -> [PlayerEffect] {
        switch sleep.step(untilPoint: timeUntilLastEnd) {
        case .none: []
        case .fade(let left, let length): [.fade(left: left, length: length)]
        case .pause: [announcer.remark("sleep", Self.asleep)] + obey(.pause) + [.endFade]
        }
    }

    static let asleep: SafeText = "Paused by the sleep timer"

    /// A sink that starts during the fade goes on with it.
    func restOfFade() -> [PlayerEffect] {
        guard case .fade(let left, let length) = sleep.rest(untilPoint: timeUntilLastEnd) else { return [] }
        return [.fade(left: left, length: length)]
    }

    /// The time until the end of the current track, if the music stops there and the length is exact.
    private var timeUntilLastEnd: Duration? {
        guard sleep.point != nil, let pass = lane.current, pass.info?.isDurationExact == true,
            let place = queue.place(of: pass.track.id), stops(after: place)
        else { return nil }
        return pass.duration.map { max(.zero, $0 - position) }
    }

    /// The sleep timer in snapshots; `nil` if none is set.
    var sleepReport: SleepReport? {
        guard sleep.goal != nil else { return nil }
        guard let point = sleep.point else { return SleepReport(left: sleep.left) }
        return SleepReport(left: timeUntilStop, point: point)
    }

    private var timeUntilStop: Duration? {
        guard let pass = lane.current, let duration = pass.duration,
            var place = queue.place(of: pass.track.id)
        else { return nil }
        var left = max(.zero, duration - position)
        for _ in 0..<Self.mostAlbumTracks {
            guard !stops(after: place), let next = queue.next(after: place) else { return left }
            let track = queue.tracks[next]
            guard let more = announcer.facts[track.id]?.duration ?? track.duration else { return nil }
            left += more
            place = next
        }
        return nil
    }
}
