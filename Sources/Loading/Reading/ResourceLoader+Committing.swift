import Media
import System

// What came of a fetch that was cancelled.
extension ResourceLoader {
    /// Makes durable what came, in a task that no cancel reaches and that the close waits for.
    func commitWhatCame() {
        guarded.withLock { guarded in
            // One that waits for its turn takes along what has come by then; the close commits by itself.
            guard !guarded.isClosed, !guarded.isCommitQueued else { return }
            guarded.isCommitQueued = true
            let earlier = guarded.commit
            guarded.commit = Task {
                await earlier?.value
                self.guarded.withLock { $0.isCommitQueued = false }
                // What cannot be kept now is tried again, and told, by the store's own rhythm and its close.
                try? await self.store.commit()
            }
        }
    }
}
