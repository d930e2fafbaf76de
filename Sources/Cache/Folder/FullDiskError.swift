import Media
import System

/// A commit that the disk had no room for.
struct FullDiskError: Error {
    /// The failure as listeners are told of it.
    let told: MediaError

    /// nil where `cause` is another one.
    init?(_ cause: any Error, told: MediaError) {
        let isFull = (cause as? SystemError)?.isFullDisk ?? ((cause as? IndexError)?.code == .full)
        guard isFull else { return nil }
        self.told = told
    }
}
