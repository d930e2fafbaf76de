import Loading
import Media

/// The pure part of loading, driven by the events of a server that answers every request.
enum PlanningRun {
    /// Reads from the start until `count` bytes are stored; returns how many actions that took.
    static func bytes(_ count: Int64) -> Int {
        var description = EntryDescription()
        description.validators = Validators(etag: "\"1\"")
        var state = ResourceLoadState(
            settings: LoadSettings(),
            subject: "song",
            description: description,
            seed: 7
        )
        var moment = LoadMoment()
        let reader = LoadReaders.ID(1)
        state.readerOpened(reader)
        var actions = state.readRequested(reader, at: 0, moment)
        actions += state.readerAsked(reader, for: .readAhead(bytesPerSecond: 24_000), moment)
        var taken = 0
        while let action = actions.popLast() {
            taken += 1
            guard case .startFetch(let plan) = action, let asked = plan.asked, asked.lowerBound < count else {
                continue
            }
            let range = asked.clamped(to: 0..<count)
            let answer = RangeAnswer(
                kind: .part(range: range, total: count),
                validators: description.validators
            )
            actions += state.fetchAnswered(plan.id, answer, moment).actions
            var next = range.lowerBound
            while next < range.upperBound {
                let piece = next..<min(next + 16_384, range.upperBound)
                moment.stored.insert(contentsOf: piece)
                actions += state.bytesStored(piece, by: plan.id, isNew: true, moment)
                next = piece.upperBound
            }
            actions += state.fetchEnded(plan.id, error: nil, moment)
            if let gap = moment.stored.gaps(in: 0..<count).first {
                actions += state.readRequested(reader, at: gap.lowerBound, moment)
            }
        }
        return taken
    }
}
