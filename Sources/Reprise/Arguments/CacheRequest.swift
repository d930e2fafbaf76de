/// A command of `reprise cache`, parsed and checked.
struct CacheRequest: Sendable {
    enum Action: Sendable, Equatable {
        case list(EntrySelection)
        /// Here and below, `source` is as typed.
        case info(source: String)
        case savings
        case verify
        case evict(sources: [String], includesPinned: Bool)
        /// Evicts until at most this many bytes are left.
        case shrink(to: Int64, includesPinned: Bool)
        /// Reports what `shrink` would evict without pinned entries.
        case forecast(to: Int64)
        case clear(isConfirmed: Bool, includesPinned: Bool)
        case export(ExportOrder)
        /// With `isFetched`, the missing bytes are downloaded too.
        case pin(sources: [String], isFetched: Bool)
        case unpin(sources: [String])
        case fetch(sources: [String])
    }

    struct ExportOrder: Sendable, Equatable {
        var source: String
        /// `nil` for standard output.
        var path: String?
        /// `true` if a track with gaps is written too, with zeros in the gaps.
        var takesPart = false
        /// `true` if an existing file is replaced.
        var replaces = false
    }

    let action: Action
    let folder: String
    let location: CacheLocationOptions
    /// `bounds` and `network` are `nil` if the command has no such options.
    let bounds: CacheBoundsOptions?
    let network: NetworkOptions?
    let isJSON: Bool

    /// Throws if neither `--cache-dir` nor `defaultFolder`, the folder of the account, names the cache
    /// folder.
    init(
        _ action: Action,
        _ location: CacheLocationOptions,
        bounds: CacheBoundsOptions? = nil,
        network: NetworkOptions? = nil,
        isJSON: Bool,
        defaultFolder: String? = BasePaths.path(of: .cache)
    ) throws(UsageError) {
        guard let folder = location.cacheDir ?? defaultFolder else {
            throw UsageError("this account has no home folder: name the folder of the cache with --cache-dir")
        }
        self.action = action
        self.folder = folder
        self.location = location
        self.bounds = bounds
        self.network = network
        self.isJSON = isJSON
    }
}

extension CacheRequest.Action {
    /// `true` if the cache folder is created if it does not exist.
    var mayMakeFolder: Bool {
        switch self {
        case .pin, .fetch: true
        case .list, .info, .savings, .verify, .evict, .shrink, .forecast, .clear, .export, .unpin: false
        }
    }

    /// `true` if the command only reads the index.
    var onlyAsks: Bool {
        switch self {
        case .list, .info, .savings, .forecast: true
        case .verify, .evict, .shrink, .clear, .export, .pin, .unpin, .fetch: false
        }
    }

    /// `true` if a signal lets the command finish its current step. `clear` may wait for an answer on the
    /// terminal, so a signal ends it at once.
    var endsInOrder: Bool { if case .clear = self { false } else { !onlyAsks } }

    var sources: [String] {
        switch self {
        case .evict(let sources, _), .pin(let sources, _), .unpin(let sources), .fetch(let sources): sources
        case .info(let source): [source]
        case .export(let order): [order.source]
        case .list, .savings, .verify, .shrink, .forecast, .clear: []
        }
    }
}
