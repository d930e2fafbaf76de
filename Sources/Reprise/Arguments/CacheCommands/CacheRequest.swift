/// What `reprise cache` was asked to do.
struct CacheRequest: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        case list(EntrySelection)
        /// As typed.
        case info(source: String)
        case verify
        /// As typed; with `includesPinned` also what is pinned goes.
        case evict(sources: [String], includesPinned: Bool)
        /// Drops until no more than so many bytes are left.
        case shrink(to: Int64, includesPinned: Bool)
        /// Says what would be dropped, pinned music left out.
        case forecast(to: Int64)
        case clear(isConfirmed: Bool, includesPinned: Bool)
        case export(ExportOrder)
        /// As typed; with `isFetched` all of it is fetched too.
        case pin(sources: [String], isFetched: Bool)
        case unpin(sources: [String])
        case fetch(sources: [String])
    }

    /// What is written out, and where to.
    struct ExportOrder: Sendable, Equatable {
        /// As typed.
        var source: String
        /// Nil for standard output.
        var path: String?
        /// Whether a piece with gaps is written too, with zeros in their place.
        var takesPart = false
        /// Whether a file that is there is replaced.
        var replaces = false
    }

    var action: Action
    /// As typed or by the XDG rules.
    var folder: String
    var keeping: KeepingOptions
    var network = NetworkOptions()
    var isJSON = false

    init(_ action: Action, keeping: KeepingOptions, network: NetworkOptions = NetworkOptions(), isJSON: Bool)
        throws(UsageError)
    {
        folder = try CheckedValue.value(
            keeping.folder,
            "there is no home for a cache: name its folder with --cache-dir"
        )
        self.action = action
        self.keeping = keeping
        self.network = network
        self.isJSON = isJSON
    }
}

extension CacheRequest.Action {
    /// Whether a folder that is not there is made, because something is to be kept.
    var mayMakeFolder: Bool {
        switch self {
        case .pin, .fetch: true
        case .list, .info, .verify, .evict, .shrink, .forecast, .clear, .export, .unpin: false
        }
    }

    /// Whether it only asks what is kept.
    var onlyAsks: Bool {
        switch self {
        case .list, .info, .forecast: true
        case .verify, .evict, .shrink, .clear, .export, .pin, .unpin, .fetch: false
        }
    }

    /// Whether it takes its time, and a signal has it end what it is at.
    var endsInOrder: Bool {
        switch self {
        case .verify, .evict, .export, .pin, .unpin, .fetch: true
        case .list, .info, .shrink, .forecast, .clear: false
        }
    }
}

extension CacheRequest.Action {
    /// What was named, as typed.
    var sources: [String] {
        switch self {
        case .evict(let sources, _), .pin(let sources, _), .unpin(let sources), .fetch(let sources): sources
        case .info(let source): [source]
        case .export(let order): [order.source]
        case .list, .verify, .shrink, .forecast, .clear: []
        }
    }
}
