/// The interfaces of the player's object: the tables that calls are checked against, and that introspection
/// shows. All of MPRIS 2.2 but its optional interfaces, the list of tracks and the playlists.
struct MPRISInterface: Sendable {
    struct Method: Sendable {
        let name: String
        /// Names and types.
        var input: [(name: String, type: String)] = []
        var output: [(name: String, type: String)] = []
    }

    struct Property: Sendable {
        let name: String
        let type: String
        var isWritable = false
        /// `false` if no signal reports its changes.
        var isReported = true
    }

    let name: String
    let methods: [Method]
    var properties: [Property] = []
    var signals: [Method] = []

    static let objectPath = "/org/mpris/MediaPlayer2"
    static let busName = "org.mpris.MediaPlayer2.reprise"

    static let introspectable = MPRISInterface(
        name: "org.freedesktop.DBus.Introspectable",
        methods: [Method(name: "Introspect", output: [("xml_data", "s")])]
    )

    static let properties = MPRISInterface(
        name: "org.freedesktop.DBus.Properties",
        methods: [
            Method(
                name: "Get",
                input: [("interface_name", "s"), ("property_name", "s")],
                output: [("value", "v")]
            ),
            Method(
                name: "GetAll",
                input: [("interface_name", "s")],
                output: [("properties", "a{sv}")]
            ),
            Method(
                name: "Set",
                input: [("interface_name", "s"), ("property_name", "s"), ("value", "v")]
            ),
        ],
        signals: [
            Method(
                name: "PropertiesChanged",
                output: [
                    ("interface_name", "s"), ("changed_properties", "a{sv}"),
                    ("invalidated_properties", "as"),
                ]
            )
        ]
    )

    static let root = MPRISInterface(
        name: "org.mpris.MediaPlayer2",
        methods: [Method(name: "Raise"), Method(name: "Quit")],
        properties: [
            Property(name: "CanQuit", type: "b"), Property(name: "CanRaise", type: "b"),
            Property(name: "HasTrackList", type: "b"), Property(name: "Identity", type: "s"),
            Property(name: "DesktopEntry", type: "s"), Property(name: "SupportedUriSchemes", type: "as"),
            Property(name: "SupportedMimeTypes", type: "as"),
        ]
    )

    static let player = MPRISInterface(
        name: "org.mpris.MediaPlayer2.Player",
        methods: [
            Method(name: "Next"), Method(name: "Previous"), Method(name: "Pause"),
            Method(name: "PlayPause"), Method(name: "Stop"), Method(name: "Play"),
            Method(name: "Seek", input: [("Offset", "x")]),
            Method(name: "SetPosition", input: [("TrackId", "o"), ("Position", "x")]),
            Method(name: "OpenUri", input: [("Uri", "s")]),
        ],
        properties: [
            Property(name: "PlaybackStatus", type: "s"),
            Property(name: "LoopStatus", type: "s", isWritable: true),
            Property(name: "Rate", type: "d", isWritable: true),
            Property(name: "Shuffle", type: "b", isWritable: true),
            Property(name: "Metadata", type: "a{sv}"),
            Property(name: "Volume", type: "d", isWritable: true),
            Property(name: "Position", type: "x", isReported: false),
            Property(name: "MinimumRate", type: "d"), Property(name: "MaximumRate", type: "d"),
            Property(name: "CanGoNext", type: "b"), Property(name: "CanGoPrevious", type: "b"),
            Property(name: "CanPlay", type: "b"), Property(name: "CanPause", type: "b"),
            Property(name: "CanSeek", type: "b"),
            Property(name: "CanControl", type: "b", isReported: false),
        ],
        signals: [Method(name: "Seeked", output: [("Position", "x")])]
    )

    static let all = [introspectable, properties, root, player]

    /// The description of the object (D-Bus specification, "Introspection Data Format").
    static let introspection: String = {
        func arguments(_ list: [(name: String, type: String)], _ direction: String) -> String {
            list.map { "   <arg name=\"\($0.name)\" type=\"\($0.type)\"\(direction)/>\n" }.joined()
        }
        var text = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN" \
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        for interface in all {
            text += " <interface name=\"\(interface.name)\">\n"
            for method in interface.methods {
                text += "  <method name=\"\(method.name)\">\n" + arguments(method.input, " direction=\"in\"")
                text += arguments(method.output, " direction=\"out\"") + "  </method>\n"
            }
            for signal in interface.signals {
                text +=
                    "  <signal name=\"\(signal.name)\">\n" + arguments(signal.output, "") + "  </signal>\n"
            }
            for property in interface.properties {
                let access = property.isWritable ? "readwrite" : "read"
                text += "  <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\""
                text +=
                    property.isReported
                    ? "/>\n"
                    : ">\n   <annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\" "
                        + "value=\"false\"/>\n  </property>\n"
            }
            text += " </interface>\n"
        }
        return text + "</node>\n"
    }()
}
