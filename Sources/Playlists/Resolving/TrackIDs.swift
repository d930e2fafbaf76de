package import Media
import Synchronization

/// Hands out track IDs, each once in the life of the process. From any thread.
package enum TrackIDs {
    private static let next = Atomic<UInt64>(1)

    /// An ID that no track has.
    package static func take() -> Track.ID {
        Track.ID(next.wrappingAdd(1, ordering: .relaxed).oldValue)
    }

    /// The first of `count` IDs in a row that no track has.
    package static func take(_ count: Int) -> Track.ID {
        Track.ID(next.wrappingAdd(UInt64(max(0, count)), ordering: .relaxed).oldValue)
    }
}
