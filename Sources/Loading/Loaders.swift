package import Media

/// Opens resources: local files as they are, web resources through one loader each.
///
/// Everyone who opens one URL at a time shares its loader, so no byte is fetched by two of them.
package final class Loaders: ResourceOpener {
    private enum Slot {
        /// Being opened by a task that the others wait for.
        case opening(Task<ResourceLoader, any Error>)
        case open(ResourceLoader)
    }

    private let transport: any RangeTransport
    private let kept: any ByteStoreOpener
    private let volatile: any ByteStoreOpener
    private let clock: any MonotonicClock
    private let settings: LoadSettings
    private let onNotice: @Sendable (MediaError) -> Void
    private let files = WorkThread(name: "files")
    // Guards which loader serves which URL; loaders are opened and closed without it.
    private let slots = Locked<[String: Slot]>([:])
    // The last word on what could not be kept: a folder that fails does so for every track.
    private let toldNotKept = Locked<MediaError?>(nil)

    /// `volatile` takes what `kept` cannot; `onNotice` hears of that, and of changed resources, from any task.
    package init(
        transport: any RangeTransport,
        kept: any ByteStoreOpener,
        volatile: any ByteStoreOpener,
        clock: any MonotonicClock,
        settings: LoadSettings = LoadSettings(),
        onNotice: @escaping @Sendable (MediaError) -> Void = { _ in }
    ) {
        self.transport = transport
        self.kept = kept
        self.volatile = volatile
        self.clock = clock
        self.settings = settings
        self.onNotice = onNotice
    }

    package func open(_ location: ResourceLocation) async throws -> any ResourceReader {
        switch location {
        case .file(let path): try await FileReader.open(path, on: files)
        case .web(let url): try await reader(of: url)
        }
    }

    /// Opens like `open`, but asks the server first whether what is stored is still current.
    ///
    /// A server that cannot be reached changes nothing: what is stored is used as it is.
    package func openRevalidated(_ location: ResourceLocation) async throws -> any ResourceReader {
        if case .web(let url) = location { try await revalidate(url) }
        return try await open(location)
    }

    private func reader(of url: WebURL) async throws -> any ResourceReader {
        while true {
            let loader = try await loader(of: url)
            if let id = loader.addReader() { return LoaderReader(loader: loader, id: id) }
            // Its last reader is closing it: the next one opens what it leaves.
            await loader.closed()
        }
    }

    private func loader(of url: WebURL) async throws -> ResourceLoader {
        let key = url.requestString
        let task: Task<ResourceLoader, any Error> = slots.withLock { slots in
            switch slots[key] {
            case .open(let loader): return Task { loader }
            case .opening(let task): return task
            case nil:
                let task = Task { try await self.makeLoader(of: url) }
                slots[key] = .opening(task)
                return task
            }
        }
        do {
            return try await task.value
        } catch {
            slots.withLock { slots in
                if case .opening(task) = slots[key] { slots[key] = nil }
            }
            throw error
        }
    }

    private func makeLoader(of url: WebURL) async throws -> ResourceLoader {
        let store = try await openStore(of: url)
        let loader = ResourceLoader(
            url: url,
            store: store,
            transport: transport,
            clock: clock,
            settings: settings,
            onChanged: { [kept, onNotice] url in
                onNotice(MediaError(.resourceChanged, url.safeText, "the file on the server has changed"))
                // The next open finds the new, empty entry; the old one lives until its loader closes.
                if let fresh = try? await kept.replace(url) { await fresh.close() }
            },
            onIdle: { [weak self] url, loader in self?.forget(url, loader) }
        )
        slots.withLock { $0[url.requestString] = .open(loader) }
        return loader
    }

    private func openStore(of url: WebURL) async throws -> any ByteStore {
        do {
            let store = try await kept.open(url)
            return SpillingStore(
                kept: store,
                makeVolatile: { [volatile] in try await volatile.open(url) },
                onSpill: { [weak self] in self?.tellNotKept($0) }
            )
        } catch let error as MediaError where error.code == .notKept {
            tellNotKept(error)
            return try await volatile.open(url)
        }
    }

    /// Tells that something is not kept, unless that was the last thing to be told of this kind.
    private func tellNotKept(_ error: MediaError) {
        let isNews = toldNotKept.withLock { told in
            defer { told = error }
            return told != error
        }
        if isNews { onNotice(error) }
    }

    private func forget(_ url: WebURL, _ loader: ResourceLoader) {
        slots.withLock { slots in
            if case .open(let current) = slots[url.requestString], current === loader {
                slots[url.requestString] = nil
            }
        }
    }

    /// One small request tells whether the entry is current; a changed one is replaced by an empty one.
    ///
    /// With validators it is a conditional one, whose answer has no body when all is as it was; without, the
    /// first bytes are asked for again and compared.
    private func revalidate(_ url: WebURL) async throws {
        guard let store = try? await kept.open(url) else { return }
        let known = store.description
        let probe = (store.stored.run(from: 0) ?? 0..<0).clamped(to: 0..<settings.overlap)
        let head = probe.isEmpty ? [] : (try? await store.read(at: 0, count: probe.count)) ?? []
        await store.close()
        guard !head.isEmpty else { return }
        let request =
            known.validators.isEmpty
            ? RangeRequest(url: url, range: 0..<Int64(head.count))
            : RangeRequest(url: url, range: nil, unlessMatches: known.validators)
        do {
            let response = try await transport.send(request)
            defer { response.body.cancel() }
            guard response.answer.isContent, !response.answer.isForeignPage(for: known) else { return }
            if !response.answer.contradicts(known) {
                guard known.validators.isEmpty else { return }
                if try await Self.begins(response.body, with: head) { return }
            }
            if let fresh = try? await kept.replace(url) { await fresh.close() }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Unreachable is not changed.
        }
    }

    /// Whether the body's first bytes are `head`.
    private static func begins(_ body: any ResponseBody, with head: [UInt8]) async throws -> Bool {
        var bytes: [UInt8] = []
        while bytes.count < head.count, let more = try await body.next() { bytes += more }
        return bytes.count >= head.count && OverlapCheck(expected: head, at: 0).passes(bytes, at: 0)
    }
}
