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

    /// The resource of a loader.
    private enum Name: Hashable {
        case web(String)
        /// A part of the stream whose list the other loader has, at a URL.
        case part(PartName, ObjectIdentifier, String)
    }

    private let parts: LoaderParts
    private let stores: any ByteStoreOpener
    private let volatileStores: any ByteStoreOpener
    private let seed: UInt64
    private let onNotice: @Sendable (MediaError) -> Void
    private let files = WorkThread(name: "files")
    // Guards which loader serves which resource; loaders are opened and closed without it.
    private let slots = Locked<[Name: Slot]>([:])
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
        try await open(location, of: episode, for: .playing)
    }

    package func open(
        _ location: ResourceLocation,
        of episode: Episode?,
        for use: ResourceUse
    ) async throws -> any ResourceReader {
        switch location {
        case .file(let path): try await openFile(path, on: files)
        case .web(let url): try await reader(of: ResourceKey(url, of: episode, for: use))
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

    /// Opens the resource at `url` to read its first bytes, for its tags. Its requests have the lowest
    /// priority, are not repeated after a failure, and follow no redirect to another host. Its entry counts
    /// as never played. `nil` if the resource is open already, or what is read would not stay cached.
    package func openHead(_ url: WebURL) async throws -> (any ResourceReader)? {
        let name = Name.web(url.requestString)
        guard slots.withLock({ $0[name] == nil }) else { return nil }
        let key = ResourceKey(url, for: .tags)
        let store = try await stores.open(key, isOffline: parts.network.isOffline)
        guard store.isPersistent else {
            await store.close()
            return nil
        }
        let loader = makeLoader(of: url, named: name, store, isHead: true)
        guard let id = loader.addReader() else { throw CancellationError() }
        loader.step { $0.readerAsked(id, for: .tags, $1) }
        return LoaderReader(loader: loader, id: id)
    }

    /// Like `open`, but new bytes are not cached: a list, key or segment of the stream at `stream`.
    package func openVolatile(
        _ location: ResourceLocation,
        of stream: ResourceLocation
    ) async throws -> any ResourceReader {
        guard case .web(let url) = location else { return try await open(location) }
        return try await reader(named: .web(url.requestString)) { name in
            let store = try await self.volatileStores.open(url)
            return self.makeLoader(of: url, named: name, store, in: stream)
        }
    }

    /// Opens a part of the recorded stream at `stream`, whose list `list` reads, and which may not be closed
    /// before it. The part is cached with the list, if that is. `likelyLength` is at least its likely length.
    package func openPart(
        _ part: PartName,
        at location: ResourceLocation,
        likelyLength: Int64,
        of list: any ResourceReader,
        in stream: ResourceLocation
    ) async throws -> any ResourceReader {
        guard case .web(let url) = location, let owner = (list as? LoaderReader)?.loader else {
            return try await openVolatile(location, of: stream)
        }
        return try await reader(named: .part(part, ObjectIdentifier(owner), url.requestString)) { name in
            let kept = await owner.store.part(part, at: url, likelyLength: likelyLength, isNew: false)
            let store = if let kept { kept } else { try await self.volatileStores.open(url) }
            return self.makeLoader(of: url, named: name, store, in: stream)
        }
    }

    /// Reads what is cached of a part of the stream whose list `list` reads; `nil` unless all of it is.
    package func openStored(_ part: PartName, at location: ResourceLocation, of list: any ResourceReader)
        async -> (any ResourceReader)?
    {
        guard case .web(let url) = location, let owner = (list as? LoaderReader)?.loader,
            let store = await owner.store.part(part, at: url, likelyLength: 0, isNew: false)
        else { return nil }
        let reader = StoredReader(store, subject: url.safeText)
        return reader.isWhole ? reader : nil
    }

    /// Caches `body`, which was requested from `location`, as a part of the stream whose list `list` reads.
    /// If its server forbids that, nothing of the stream is cached.
    package func keep(
        _ part: PartName,
        from location: ResourceLocation,
        _ body: FetchedBody,
        of list: any ResourceReader
    ) async throws {
        guard case .web(let url) = location, let owner = (list as? LoaderReader)?.loader,
            let bytes = body.bytes
        else { return }
        guard !body.answer.forbidsStoring else { return await owner.store.discard() }
        let length = Int64(bytes.count)
        let store = await owner.store.part(part, at: url, likelyLength: length, isNew: true)
        guard let store else { return }
        var description = EntryDescription()
        description.length = length
        description.contentType = body.answer.contentType
        description.validators = body.answer.validators
        description.redirectedTo = body.answer.redirectedTo?.withoutSecrets
        store.describe(description)
        try await store.write(bytes, at: 0)
        await store.close()
    }

    /// Replaces the cached stream at `location` by an empty one, and opens that; `isChange` if the stream has
    /// changed on its server.
    package func replace(_ location: ResourceLocation, isChange: Bool) async throws -> any ResourceReader {
        guard case .web(let url) = location else { return try await open(location) }
        if isChange {
            onNotice(MediaError(.resourceChanged, url.safeText, "the stream on the server has changed"))
        }
        try await stores.replace(url).close()
        // Existing readers continue with the old entry; every later open gets the new one.
        slots.withLock { $0[.web(url.requestString)] = nil }
        return try await open(location)
    }

    /// Opens another rendition of the cached stream at `location`, the one whose stored form begins with
    /// `rendition`. If the cache accepts no writes, opens the cached one.
    package func openRendition(_ rendition: [UInt8], of location: ResourceLocation) async throws
        -> any ResourceReader
    {
        guard case .web(let url) = location else { return try await open(location) }
        // An entry without bytes is removed when the last store closes.
        let store = try? await stores.openRendition(rendition, of: url)
        slots.withLock { $0[.web(url.requestString)] = nil }
        do {
            let reader = try await open(location)
            await store?.close()
            return reader
        } catch {
            await store?.close()
            throw error
        }
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
            slots.withLock { $0[.web(url.requestString)] = nil }
        }
        return try await reader(of: ResourceKey(url, of: episode), spent: probe)
    }

    private func reader(of key: ResourceKey, spent: Revalidation.Outcome = .init()) async throws
        -> any ResourceReader
    {
        try await reader(named: .web(key.url.requestString), spent: spent) { name in
            let store = try await self.stores.open(key, isOffline: self.parts.network.isOffline)
            return self.makeLoader(of: key.url, named: name, store)
        }
    }

    private func reader(
        named name: Name,
        spent: Revalidation.Outcome = .init(),
        make: @escaping @Sendable (Name) async throws -> ResourceLoader
    ) async throws -> any ResourceReader {
        while true {
            let loader = try await loader(named: name, make: make)
            loader.count(requests: spent.requestCount, bytes: spent.bytes)
            if let id = loader.addReader() { return LoaderReader(loader: loader, id: id) }
            // The loader is being closed: open a new one afterwards.
            await loader.closed()
        }
    }

    private func loader(
        named name: Name,
        make: @escaping @Sendable (Name) async throws -> ResourceLoader
    ) async throws -> ResourceLoader {
        let task: Task<ResourceLoader, any Error> = slots.withLock { slots in
            switch slots[name] {
            case .open(let loader): return Task { loader }
            case .opening(let task): return task
            case nil:
                let task = Task {
                    let loader = try await make(name)
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

    /// A loader of `url` into `store`; `stream` is the stream of which it is a part. With `isHead`, only its
    /// first bytes are read.
    private func makeLoader(
        of url: WebURL,
        named name: Name,
        _ store: any ByteStore,
        in stream: ResourceLocation? = nil,
        isHead: Bool = false
    ) -> ResourceLoader {
        let stores = stream == nil ? stores : nil
        var parts = parts
        parts.settings.retry.isPartOfStream = stream != nil
        parts.stream = stream?.url
        if isHead {
            parts.settings.staysOnHost = true
            parts.settings.retry.mostAttempts = 1
            parts.settings.retry.waitsForServer = false
        }
        return ResourceLoader(
            url: url,
            store: store,
            parts: parts,
            measure: measures.measure(of: url),
            trustsValidators: changes.withLock { $0[url.requestString] ?? 0 } < Self.mostTrustedChanges,
            seed: seed,
            onChanged: { [weak self, onNotice] loader in
                let url = loader.url
                self?.changes.withLock { $0[url.requestString, default: 0] += 1 }
                onNotice(MediaError(.resourceChanged, url.safeText, "the file on the server has changed"))
                // Later opens use the new, empty entry; the old one remains until its loader closes.
                if let stores {
                    if let fresh = try? await stores.replace(url) { await fresh.close() }
                } else {
                    await loader.store.discard()
                }
                self?.forget(loader, named: name)
            },
            onIdle: { [weak self] loader in
                self?.measures.keep(loader.measure, of: loader.url)
                self?.forget(loader, named: name)
            }
        )
    }

    private func forget(_ loader: ResourceLoader, named name: Name) {
        slots.withLock { slots in
            if case .open(let current) = slots[name], current === loader { slots[name] = nil }
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
