import Media
import System

/// Checks with one request if an entry is current, and replaces it by an empty one if it is not.
///
/// With validators the request is conditional, and the response has no body if nothing has changed. Without
/// them, the first bytes, or all of them, are requested again and compared. If the server cannot be reached,
/// nothing changes.
struct Revalidation {
    struct Outcome: Sendable {
        var isChanged = false
        /// Requests sent, redirects included.
        var requestCount = 0
        /// Body bytes received.
        var bytes: Int64 = 0
    }

    let url: WebURL
    let stores: any ByteStoreOpener
    let parts: LoaderParts
    /// `true` to compare, without validators, all bytes that are stored from the start without a gap, instead
    /// of only the first `LoadSettings.overlap`.
    var comparesAll = false

    func run() async throws -> Outcome {
        var outcome = Outcome()
        guard let store = try? await stores.open(url) else { return outcome }
        // The list of a recorded stream is asked for by the stream itself, which knows what follows from it.
        guard store.stream == nil else {
            await store.close()
            return outcome
        }
        let known = store.description
        let run = store.stored.run(from: 0) ?? 0..<0
        let isWhole = comparesAll && known.validators.isEmpty
        let probe = isWhole ? run : run.clamped(to: 0..<parts.settings.overlap)
        let head = (try? await store.bytes(in: probe)) ?? []
        await store.close()
        guard !head.isEmpty else { return outcome }
        let request =
            known.validators.isEmpty
            ? RangeRequest(url: url, range: 0..<Int64(head.count))
            : RangeRequest(url: url, range: nil, unlessMatches: known.validators)
        var log = parts.log(request, .revalidate)
        do {
            let response = try await parts.transport.send(request)
            defer { response.body.cancel() }
            outcome.requestCount = response.answer.requestCount
            log?.answered(response.answer)
            outcome.isChanged = try await isChanged(response, from: known, head: head, &log, &outcome.bytes)
        } catch {
            log?.failed(error)
            if error is CancellationError { throw error }
            // An unreachable server does not prove a change.
            let wasSent = (error as? MediaError)?.isUnsent != true
            outcome.requestCount = max(wasSent ? 1 : 0, outcome.requestCount)
            return outcome
        }
        if outcome.isChanged, let fresh = try? await stores.replace(url) { await fresh.close() }
        log?.ended(outcome.isChanged ? MediaError.Code.resourceChanged.rawValue : "complete")
        return outcome
    }

    private func isChanged(
        _ response: RangeResponse,
        from known: EntryDescription,
        head: [UInt8],
        _ log: inout RequestLog?,
        _ received: inout Int64
    ) async throws -> Bool {
        let answer = response.answer
        guard answer.isContent, !answer.isForeignPage(for: known) else { return false }
        if answer.contradicts(known) { return true }
        guard known.validators.isEmpty else { return false }
        var bytes: [UInt8] = []
        while bytes.count < head.count, let more = try await response.body.next() {
            log?.received(more.count)
            received += Int64(more.count)
            bytes += more
        }
        if comparesAll, case .whole = answer.kind, try await response.body.next() != nil { return true }
        return !bytes.starts(with: head)
    }
}
