package import Media

extension CacheFolder: KeptMusic {
    /// What is here of each of `urls`; a folder that cannot be used has nothing.
    package func availability(of urls: [WebURL]) async -> [Availability?] {
        var answers: [Availability?] = []
        for url in urls {
            let entry = try? await info(for: url)
            answers.append(
                entry.map {
                    Availability(storedBytes: $0.storedBytes, length: $0.length, isPinned: $0.isPinned)
                }
            )
        }
        return answers
    }

    /// Pins the entry of `url`, made empty where there is none, or unpins it.
    package func setPinned(_ url: WebURL, _ isPinned: Bool) async throws {
        throw MediaError(.notKept, "pins", "are not built yet")
    }
}
