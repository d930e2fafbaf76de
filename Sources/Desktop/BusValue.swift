/// A value of D-Bus, of the types that are used.
enum BusValue: Sendable, Hashable {
    case string(String)
    /// The path of an object: letters, digits, `_` and `/` only.
    case path(String)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case double(Double)
    case bool(Bool)
    case strings([String])
    /// Values by name.
    case map([String: BusValue])
    /// A value of any type, stated with it.
    indirect case variant(BusValue)

    /// The type in D-Bus' notation.
    var signature: String {
        switch self {
        case .string: "s"
        case .path: "o"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .double: "d"
        case .bool: "b"
        case .strings: "as"
        case .map: "a{sv}"
        case .variant: "v"
        }
    }

    /// The text of a string or path; `nil` for other types.
    var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        default: nil
        }
    }
}

/// A call of a method of the player's object, or the signal of another program.
struct BusCall: Sendable, Equatable {
    var interface: String
    var member: String
    var arguments: [BusValue] = []

    var signature: String { arguments.map(\.signature).joined() }
}

/// The failure of a call; `name` tells programs what is wrong, `message` people.
struct BusError: Error, Equatable {
    var name: String
    var message: String

    /// One of the errors that D-Bus itself names.
    init(_ name: String, _ message: String) {
        self.name = "org.freedesktop.DBus.Error." + name
        self.message = message
    }
}

/// A signal of the player's object.
struct BusSignal: Sendable, Equatable {
    var interface: String
    var member: String
    var arguments: [BusValue]
}
