extension PlayText {
    /// Reads a command line in which nothing but sources and whole options stand; nil for any other, which
    /// `PlayArguments` has to read.
    ///
    /// ArgumentParser finds its options by reflection, which takes longer than all else that the program itself
    /// does before it opens the first source. An option that is missing here is read by it alone.
    init?(reading arguments: [String]) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if !word.hasPrefix("-") || word == "-" {
                sources.append(word)
                continue
            }
            if setFlag(word) { continue }
            let value: String
            if let equals = word.firstIndex(of: "=") {
                value = String(word[word.index(after: equals)...])
                guard !value.isEmpty, setValue(word[..<equals], value) else { return nil }
            } else {
                // What looks like an option is not taken for a value.
                guard let next = rest.popFirst(), !next.hasPrefix("-"), setValue(word[...], next) else {
                    return nil
                }
            }
        }
    }

    /// False where there is no such flag.
    private mutating func setFlag(_ name: String) -> Bool {
        switch name {
        case "--headless": headless = true
        case "--json": json = true
        case "--plain": plain = true
        case "--no-cache": noCache = true
        case "--offline": offline = true
        case "--refresh": refresh = true
        case "--fill": fill = true
        case "--shuffle": shuffle = true
        case "--no-shuffle": shuffle = false
        case "--fresh": fresh = true
        case "--no-mouse": noMouse = true
        case "--version": version = true
        default: return false
        }
        return true
    }

    /// False where no option of this name takes a value.
    private mutating func setValue(_ name: Substring, _ value: String) -> Bool {
        switch name {
        case "--sink": sink = value
        case "--cache-dir": folder.cacheDir = value
        case "--cache-secret": folder.cacheSecret = value
        case "--cache-identity": folder.cacheIdentities.append(value)
        case "--cache-size": bounds.cacheSize = value
        case "--cache-age": bounds.cacheAge = value
        case "--min-free": bounds.minFree = value
        case "--read-ahead": readAhead = value
        case "--journal": journal = value
        case "--volume": volume = value
        case "--repeat": repeatMode = value
        case "--gain": gain = value
        case "--start": start = value
        case "--seek": seek = value
        case "--header": network.headers.append(value)
        case "--user-agent": network.userAgent = value
        case "--cacert": network.cacert = value
        default: return false
        }
        return true
    }
}
