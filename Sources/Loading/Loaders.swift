package import Media
package import System

/// Opens resources: local files directly, web resources through one loader each.
///
/// All readers that have one URL open share its loader, so no byte is downloaded twice.
package final class Loaders: ResourceOpener {
    private enum Slot {
        /// The task opens it; further readers wait for the same task.
        case opening(Task<ResourceLoader, any Error>)
        case open(ResourceLoader)
    }

    private let parts: LoaderParts
    private let stores: any ByteStoreOpener
    private let volatileStores: any ByteStoreOpener
    private let seed: UInt64
    private let onNotice: @Sendable (MediaError) -> Void
    private let files = WorkThread(name: "files")
    // Guards which loader serves which URL; loaders are opened and closed without it.
    private let slots = Locked<[String: Slot]>([:])
    private let measures = LineMeasures()
    /// The number of changes of each resource that has changed on its server.
    private let changes = Locked<[String: Int]>([:])

    /// After so many changes of a resource, its loaders no longer trust its validators, and compare its bytes
    /// instead: two servers behind one name may send different validators for one file, and those of a
    /// recording in progress may change faster than its bytes are played.
    private static let mostTrustedChanges = 2

    /// - Parameters:
    ///   - stores: opens the store of each resource, and decides where new bytes are stored.
    ///   - volatileStores: opens the stores of bytes that are not cached; by default, the same.
    ///   - connectivity: the state of the network; `nil` if it is not watched.
    ///   - journal: receives every request and decision.
    ///   - seed: determines the jitter of delays.
    ///   - onNotice: called from any task when a resource has changed on its server.
    package init(
        transport: any RangeTransport,
        stores: any ByteStoreOpener,
        volatileStores: (any ByteStoreOpener)? = nil,
        clock: any MonotonicClock,
        settings: LoadSettings = LoadSettings(),
        connectivity: (any Connectivity)? = nil,
        journal: (any RequestJournal)? = nil,
        seed: UInt64 = .random(in: .min ... .max),
        onNotice: @escaping @Sendable (MediaError) -> Void = { _ in }
    ) {
        parts = LoaderParts(
            transport: transport,
            clock: clock,
            settings: settings,
            connectivity: connectivity,
            journal: journal
        )
        self.stores = stores
        self.volatileStores = volatileStores ?? stores
        self.seed = seed
        self.onNotice = onNotice
    }

    /// The network is back: all loaders that wait for it retry at once.
    package func networkIsBack() {
        let loaders = slots.withLock { slots in
            slots.values.compactMap { if case .open(let loader) = $0 { loader } else { nil } }
        }
        for loader in loaders { loader.networkIsBack() }
    }

    package func open(
        _ location: ResourceLocation,
        of episode: Episode? = nil
    ) async throws -> any ResourceReader {
        switch location {
        case .file(let path): try await openFile(path, on: files)
        case .web(let url): try await reader(of: ResourceKey(url, of: episode))
        }
    }

    /// Opens the local file at `path`; `thread` performs all reads, so that they do not delay those of other
    /// files.
    package func openFile(_ path: String, on thread: WorkThread) async throws -> any ResourceReader {
        try await FileReader.open(path, on: thread)
    }

    /// Requests all of `location`, past the cache and without retries: a list of the live stream at `stream`,
    /// of at most `most` bytes. It has none if `validators` still describe it.
    package func request(
        _ location: ResourceLocation,
        unless validators: Validators,
        atMost most: Int,
        of stream: ResourceLocation
    ) async throws -> FetchedBody {
        switch location {
        case .web(let url):
            var parts = parts
            parts.stream = stream.url
            return try await WholeFetch(url: url, parts: parts, validators: validators, most: most).run()
        case .file(let path):
            let reader = try await openFile(path, on: files)
            let bytes = try await reader.read(at: 0, count: most)
            await reader.close()
            return FetchedBody(answer: RangeAnswer(kind: .whole(length: nil), requestCount: 0), bytes: bytes)
        }
    }

    /// Like `open`, but new bytes are not cached: a list, key or segment of the stream at `stream`.
    package func openVolatile(
        _ location: ResourceLocation,
        of stream: ResourceLocation
    ) async throws -> any ResourceReader {
        guard case .web(let url) = location else { return try await open(location) }
        return try await reader(of: ResourceKey(url), in: stream)
    }

    /// Like `open`, but first asks the server if the stored bytes are current. If the server cannot be
    /// reached, they are used as they are.
    ///
    /// Without validators, the first bytes are compared; with `comparesAll`, which is for lists, all of them:
    /// lists often change only at their end.
    package func openRevalidated(
        _ location: ResourceLocation,
        of episode: Episode? = nil,
        comparesAll: Bool = false
    ) async throws -> any ResourceReader {
        guard case .web(let url) = location else { return try await open(location) }
        let probe = try await Revalidation(url: url, stores: stores, parts: parts, comparesAll: comparesAll)
            .run()
        if probe.isChanged {
            // Existing readers continue with the old file; every later open gets the new one.
            slots.withLock { $0[url.requestString] = nil }
        }
        return try await reader(of: ResourceKey(url, of: episode), spent: probe)
    }

    private func reader(
        of key: ResourceKey,
        in stream: ResourceLocation? = nil,
        spent: Revalidation.Outcome = .init()
    ) async throws -> any ResourceReader {
        while true {
            let loader = try await loader(of: key, in: stream)
            loader.count(requests: spent.requestCount, bytes: spent.bytes)
            if let id = loader.addReader() { return LoaderReader(loader: loader, id: id) }
            // The loader is being closed: open a new one afterwards.
            await loader.closed()
        }
    }

    private func loader(of key: ResourceKey, in stream: ResourceLocation?) async throws -> ResourceLoader {
        let name = key.url.requestString
        let task: Task<ResourceLoader, any Error> = slots.withLock { slots in
            switch slots[name] {
            case .open(let loader): return Task { loader }
            case .opening(let task): return task
            case nil:
                let task = Task {
                    let loader = try await self.makeLoader(of: key, in: stream)
                    self.slots.withLock { $0[name] = .open(loader) }
                    return loader
                }
                slots[name] = .opening(task)
                return task
            }
        }
        do {
            return try await task.value
        } catch {
            slots.withLock { slots in
                if case .opening(task) = slots[name] { slots[name] = nil }
            }
            throw error
        }
    }

    private func makeLoader(of key: ResourceKey, in stream: ResourceLocation?) async throws -> ResourceLoader
    {
        let url = key.url
        let stores = stream == nil ? stores : volatileStores
        var parts = parts
        parts.settings.retry.isPartOfStream = stream != nil
        parts.stream = stream?.url
        return ResourceLoader(
            url: url,
            store: try await stores.open(key, isOffline: parts.network.isOffline),
            parts: parts,
            measure: measures.measure(of: url),
            trustsValidators: changes.withLock { $0[url.requestString] ?? 0 } < Self.mostTrustedChanges,
            seed: seed,
            onChanged: { [weak self, stores, onNotice] loader in
                let url = loader.url
                self?.changes.withLock { $0[url.requestString, default: 0] += 1 }
                onNotice(MediaError(.resourceChanged, url.safeText, "the file on the server has changed"))
                // Later opens use the new, empty entry; the old one remains until its loader closes.
                if let fresh = try? await stores.replace(url) { await fresh.close() }
                self?.forget(loader)
            },
            onIdle: { [weak self] loader in
                self?.measures.keep(loader.measure, of: loader.url)
                self?.forget(loader)
            }
        )
    }

    private func forget(_ loader: ResourceLoader) {
        let key = loader.url.requestString
        slots.withLock { slots in
            if case .open(let current) = slots[key], current === loader { slots[key] = nil }
        }
    }
}

/// The dependencies that all loaders share.
struct LoaderParts: Sendable {
    var transport: any RangeTransport
    var clock: any MonotonicClock
    var settings = LoadSettings()
    /// `nil` if the network is not watched; then it counts as available.
    var connectivity: (any Connectivity)?
    var journal: (any RequestJournal)?
    var line = SharedLine()
    /// The URL of the stream to which the resource belongs, if it does.
    var stream: WebURL?

    var network: ConnectivityReport { connectivity?.report ?? ConnectivityReport() }

    /// The record of `request`, which is about to be sent; `nil` without a journal.
    func log(_ request: RangeRequest, _ urgency: Urgency) -> RequestLog? {
        journal.map { RequestLog(request, urgency: urgency, journal: $0, clock: clock) }
    }

    func decided(_ decision: JournalRecord.Decision, _ text: SafeText, about resource: SafeText) {
        journal?.record(JournalRecord(time: clock.now, resource: resource, event: .decision(decision, text)))
    }
}
