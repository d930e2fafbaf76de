/// A name that no host has.
package enum UnknownHost {
    /// Its first part is longer than a part may be (RFC 1035 §2.3.4), so no name server is asked: one that does not
    /// answer would make another failure of it, and a slow one.
    package static let name = String(repeating: "nowhere-", count: 8) + ".invalid"
}
