import Media

/// What the sources of a command stand for.
struct SourceTracks: Sendable {
    /// Each piece once, in order.
    var tracks: [Track] = []
    /// The lists of the web among the sources, and those that they name.
    var lists: [WebURL] = []
    /// What could not be understood or read, each with its reason.
    var problems: [MediaError] = []

    /// The pieces and lists of the web.
    var urls: [WebURL] {
        lists + tracks.compactMap { if case .web(let url) = $0.location { url } else { nil } }
    }

    /// Resolves all of `sources`; one that cannot be is a problem and no end. Ends early when the task is
    /// cancelled.
    static func resolve(_ sources: [String], by supply: MusicSupply) async -> SourceTracks {
        var found = SourceTracks()
        var seen = Set<ResourceLocation>()
        for source in sources where !Task.isCancelled {
            do {
                let resolved = try await supply.resolver.tracks(for: source)
                found.tracks += resolved.tracks.filter { seen.insert($0.location).inserted }
                found.problems += resolved.problems
            } catch let error as MediaError {
                found.problems.append(error)
            } catch {
                // Cancelled: the caller looks for that itself.
            }
        }
        var lists = Set<WebURL>()
        found.lists = supply.listsRead().filter { lists.insert($0).inserted }
        return found
    }
}
