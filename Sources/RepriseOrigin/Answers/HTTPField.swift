/// One header field.
package struct HTTPField: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPField] {
    /// The value of the first field called `name`, in any case.
    package subscript(name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Replaces every field called `name` by one with `value`, or removes it when that is nil.
    mutating func set(_ name: String, _ value: String?) {
        removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { append(HTTPField(name, value)) }
    }
}
