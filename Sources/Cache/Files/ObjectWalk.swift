import Glibc
import System

/// A walk through the names of `objects`, a piece at a time. Used by one thread only.
final class ObjectWalk {
    private let stream: OpaquePointer

    /// Starts a walk through an open folder, whose own descriptor is left alone.
    init(folder: CInt) throws {
        let own = try check("list objects/", openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard let stream = fdopendir(own) else {
            close(own)
            throw SystemError("list objects/")
        }
        self.stream = stream
    }

    deinit { closedir(stream) }

    /// The entries that up to `count` further names stand for; nil at the end.
    ///
    /// Names that the cache did not give are passed over, and so stay.
    func next(_ count: Int) -> [EntryID]? {
        var entries: [EntryID] = []
        for index in 0..<count {
            guard let item = readdir(stream) else { return index == 0 ? nil : entries }
            let name = withUnsafeBytes(of: item.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let entry = EntryID(fileName: name) { entries.append(entry) }
        }
        return entries
    }
}
