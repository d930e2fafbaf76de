import CPulse
import Media
import System

/// The thread that libpulse runs its protocol and our callbacks on, and its lock.
///
/// Every `pa_` call of ours is made inside `withLock`, or in a callback, which holds the lock already
/// (thread-mainloop.h). The lock stops the thread: nothing under it waits, decodes or does I/O.
final class PulseMainloop: @unchecked Sendable {
    // Unchecked: `pointer` never changes, and libpulse allows these functions from any thread.
    private let pointer: OpaquePointer

    /// What a context is made with; valid as long as this object.
    let api: UnsafeMutablePointer<pa_mainloop_api>

    /// Loads libpulse, once per process, on a thread of its own: it takes some milliseconds, which a task must not
    /// take from the others. What comes of it, `init` says.
    static func loadLibrary() async {
        await withCheckedContinuation { continuation in
            NamedThread.start("libpulse") {
                _ = cpulse_load()
                continuation.resume()
            }
        }
    }

    /// Loads libpulse where that is not done yet, and starts the thread.
    ///
    /// `loadLibrary` tells why it cannot be loaded; nil when it is.
    init(loadLibrary: () -> String? = { cpulse_load().map { String(cString: $0) } }) throws(MediaError) {
        if let reason = loadLibrary() {
            throw MediaError(
                .audioServer,
                "PulseAudio",
                SafeText("libpulse cannot be loaded (\(reason)); install libpulse0, or play with --sink null")
            )
        }
        guard let pointer = pa_threaded_mainloop_new(), let api = pa_threaded_mainloop_get_api(pointer) else {
            throw MediaError(.audioServer, "PulseAudio", "its client library cannot be set up")
        }
        pa_threaded_mainloop_set_name(pointer, "output-pulse")
        guard pa_threaded_mainloop_start(pointer) == 0 else {
            pa_threaded_mainloop_free(pointer)
            throw MediaError(.audioServer, "PulseAudio", "its thread cannot be started")
        }
        self.pointer = pointer
        self.api = api
    }

    deinit { pa_threaded_mainloop_free(pointer) }

    /// Runs `body` with the thread held between two of its callbacks; never from a callback.
    func withLock<Value>(_ body: () -> Value) -> Value {
        pa_threaded_mainloop_lock(pointer)
        defer { pa_threaded_mainloop_unlock(pointer) }
        return body()
    }

    /// Ends the thread after the callback it is in. Without the lock, or it would wait for itself.
    func stop() { pa_threaded_mainloop_stop(pointer) }
}
