import CPulse

/// How the player introduces itself to the audio server: shown in mixers, used by routing policies.
package struct PulseApplication: Sendable {
    package var name: String
    package var id: String
    package var iconName: String

    package init(
        name: String = "Reprise",
        id: String = "reprise",
        iconName: String = "multimedia-audio-player"
    ) {
        self.name = name
        self.id = id
        self.iconName = iconName
    }

    /// Runs `body` with the properties of the whole program.
    func withProperties<Value>(_ body: (OpaquePointer?) -> Value) -> Value {
        withPropertyList(
            [
                (PA_PROP_APPLICATION_NAME, name),
                (PA_PROP_APPLICATION_ID, id),
                (PA_PROP_APPLICATION_ICON_NAME, iconName),
            ],
            body
        )
    }
}

/// Runs `body` with a property list, which libpulse copies from.
func withPropertyList<Value>(_ entries: [(String, String)], _ body: (OpaquePointer?) -> Value) -> Value {
    let list = pa_proplist_new()
    defer { if let list { pa_proplist_free(list) } }
    if let list {
        for (key, value) in entries { pa_proplist_sets(list, key, value) }
    }
    return body(list)
}
