internal import CCurl
internal import Media

/// Owns libcurl's multi handle and the transfers in it. Lives on the curl thread only.
struct TransferTable: ~Copyable {
    private(set) var multi: UnsafeMutableRawPointer
    private let configuration: HTTPConfiguration
    private var handles: [Transfer.ID: EasyHandle] = [:]
    /// Finds the transfer of a handle that libcurl reports as finished.
    private var ids: [UnsafeMutableRawPointer: Transfer.ID] = [:]

    /// Connections kept open without a transfer: two each for a handful of servers.
    private static let mostIdleConnections = 8

    /// Nil when memory or file descriptors ran out.
    init?(configuration: HTTPConfiguration) {
        guard let multi = Self.makeMulti() else { return nil }
        self.multi = multi
        self.configuration = configuration
    }

    deinit {
        // libcurl wants every easy handle out of the multi handle before either is freed.
        for handle in handles.values { ccurl_multi_remove(multi, handle.pointer) }
        ccurl_multi_cleanup(multi)
    }

    mutating func carryOut(_ command: CurlLoop.Command) {
        switch command {
        case .start(let transfer): start(transfer)
        case .resume(let id):
            // It can have ended while the command was on its way.
            guard let handle = handles[id] else { return }
            if ccurl_easy_resume(handle.pointer) != CURLE_OK { remove(id) }
        case .remove(let id): remove(id)
        }
    }

    /// Does what can be done without waiting, and settles what has ended.
    mutating func perform() {
        var running: Int32 = 0
        ccurl_multi_perform(multi, &running)
        var code = CURLE_OK
        while let pointer = ccurl_multi_next_finished(multi, &code) {
            guard let id = ids[pointer], let handle = handles[id] else { continue }
            let circumstances = CurlFailure.Circumstances(
                systemError: handle.systemError,
                tunnelStatus: handle.tunnelStatus,
                hasProxy: configuration.hasProxy
            )
            let failure = CurlFailure.error(code, circumstances, request: handle.transfer.request)
            remove(id)
            handle.transfer.finished(failure: failure)
        }
    }

    /// Whether there is no transfer.
    var isEmpty: Bool { handles.isEmpty }

    /// Waits until there is something to do, or for `milliseconds`; returns early when woken.
    func waitForWork(atMost milliseconds: Int32) {
        ccurl_multi_poll(multi, milliseconds)
    }

    /// Closes all connections, of which none may have a transfer. libcurl has no call for it, so its multi
    /// handle is made anew; where that cannot be, all stays as it is.
    mutating func closeConnections() {
        precondition(isEmpty, "a connection with a transfer is not idle")
        guard let fresh = Self.makeMulti() else { return }
        ccurl_multi_cleanup(multi)
        multi = fresh
    }

    /// Cancels every transfer.
    mutating func cancelAll() {
        for handle in handles.values {
            ccurl_multi_remove(multi, handle.pointer)
            handle.transfer.cancel()
        }
        handles = [:]
        ids = [:]
    }

    private static func makeMulti() -> UnsafeMutableRawPointer? {
        guard let multi = ccurl_multi_init() else { return nil }
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, mostIdleConnections)
        return multi
    }

    private mutating func start(_ transfer: Transfer) {
        // It can have been cancelled before it began.
        guard !transfer.isOver else { return }
        guard let handle = EasyHandle(transfer, configuration: configuration),
            ccurl_multi_add(multi, handle.pointer) == CURLM_OK
        else {
            let cause: SafeText = "the request cannot be made (out of memory)"
            transfer.failed(MediaError(.internalError, transfer.request.subject, cause))
            return
        }
        handles[transfer.id] = handle
        ids[handle.pointer] = transfer.id
    }

    private mutating func remove(_ id: Transfer.ID) {
        guard let handle = handles.removeValue(forKey: id) else { return }
        ids[handle.pointer] = nil
        ccurl_multi_remove(multi, handle.pointer)
    }
}
