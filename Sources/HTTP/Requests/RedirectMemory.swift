internal import Media

/// Where redirects have led, so that the next window of a track need not take the same way again.
///
/// Only in memory: the target of a redirect may be signed and expire, and belongs to the moment. It is
/// forgotten when it disappoints, and when nobody has asked for it for a while.
struct RedirectMemory {
    private struct Target {
        var url: WebURL
        var lastUsed: Duration
    }

    /// Far more than anyone reads at a time; each holds one URL.
    static let mostTargets = 64
    /// A track that plays asks more often. After a longer pause, or for another listening, the original is
    /// asked again, which may lead elsewhere by then.
    static let longestIdle = Duration.seconds(600)

    private var targets: [WebURL: Target] = [:]

    /// Where requests for `original` are answered; nil to ask the original itself.
    mutating func target(of original: WebURL, now: Duration) -> WebURL? {
        guard let target = targets[original] else { return nil }
        guard now - target.lastUsed < Self.longestIdle else {
            targets[original] = nil
            return nil
        }
        targets[original]?.lastUsed = now
        return target.url
    }

    /// A request for `original` was answered by `target`; by the original itself when both are one.
    mutating func answered(_ original: WebURL, by target: WebURL, now: Duration) {
        guard target.requestString != original.requestString else {
            targets[original] = nil
            return
        }
        targets[original] = Target(url: target, lastUsed: now)
        guard targets.count > Self.mostTargets else { return }
        if let oldest = targets.min(by: { $0.value.lastUsed < $1.value.lastUsed }) {
            targets[oldest.key] = nil
        }
    }

    /// The target was of no use.
    mutating func forget(_ original: WebURL) {
        targets[original] = nil
    }

    /// Whether an answer with `status` from a remembered target may only mean that the target has expired,
    /// so that the original has to be asked.
    static func isExpired(status: Int) -> Bool { [401, 403, 404, 410].contains(status) }
}
