import CSystemd
import Glibc
import System

/// A connection to the bus of the user's session, with the player's object and name on it. Used by one thread
/// only.
final class BusConnection {
    /// libsystemd, which libpulse has loaded already.
    static let library = OptionalLibrary { csystemd_load().map { String(cString: $0) } }

    private let bus: OpaquePointer
    private let handler: Handler

    /// Keeps the closure at an address that libsystemd can hold.
    fileprivate final class Handler {
        let answer: (BusCall) throws(BusError) -> [BusValue]

        init(_ answer: @escaping (BusCall) throws(BusError) -> [BusValue]) { self.answer = answer }
    }

    /// Connects, and calls `answer` for each call of the player's object from then on. libsystemd must be
    /// open. `nil` if there is no bus, or if it refuses the player.
    ///
    /// The first player of the session gets the plain name, others one with their process number.
    init?(answer: @escaping (BusCall) throws(BusError) -> [BusValue]) {
        var bus: OpaquePointer?
        guard sd_bus_open_user(&bus) >= 0, let bus else { return nil }
        self.bus = bus
        handler = Handler(answer)
        let context = Unmanaged.passUnretained(handler).toOpaque()
        let added = sd_bus_add_object(bus, nil, MPRISInterface.objectPath, receive, context)
        let name = MPRISInterface.busName
        guard added >= 0,
            sd_bus_request_name(bus, name, 0) >= 0
                || sd_bus_request_name(bus, name + ".instance\(getpid())", 0) >= 0
        else { return nil }
    }

    deinit { sd_bus_flush_close_unref(bus) }

    /// Handles all messages that have arrived, and sends those that wait. `false` if the connection is lost.
    func process() -> Bool {
        while true {
            let result = sd_bus_process(bus, nil)
            guard result > 0 else { return result == 0 }
        }
    }

    /// Waits until there is something to process, or until `other` can be read. `false` if the connection is
    /// lost.
    func wait(orReading other: Int32) -> Bool {
        let descriptor = sd_bus_get_fd(bus)
        let events = sd_bus_get_events(bus)
        var due: UInt64 = .max
        guard descriptor >= 0, events >= 0, sd_bus_get_timeout(bus, &due) >= 0 else { return false }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let now = UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
        let isWriting = Int32(events) & POLLOUT != 0
        Poll.wait(
            reading: [other, descriptor],
            writing: isWriting ? [descriptor] : [],
            atMost: due == .max ? nil : .microseconds(Int64(clamping: due > now ? due - now : 0))
        )
        return true
    }

    /// Sends a signal of the player's object. What can't be sent is lost with the connection.
    func send(_ signal: BusSignal) {
        var message: OpaquePointer?
        let path = MPRISInterface.objectPath
        guard sd_bus_message_new_signal(bus, &message, path, signal.interface, signal.member) >= 0,
            let message
        else { return }
        defer { sd_bus_message_unref(message) }
        for value in signal.arguments { message.append(value) }
        _ = sd_bus_send(bus, message, nil)
    }
}

/// Answers a call; libsystemd calls it for the player's object.
private func receive(
    call: OpaquePointer?,
    context: UnsafeMutableRawPointer?,
    _: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let call, let context, let member = sd_bus_message_get_member(call) else { return 0 }
    let interface = sd_bus_message_get_interface(call).map { String(cString: $0) } ?? ""
    // libsystemd itself answers these.
    guard interface != "org.freedesktop.DBus.Peer" else { return 0 }
    let handler = Unmanaged<BusConnection.Handler>.fromOpaque(context).takeUnretainedValue()
    var reply: OpaquePointer?
    defer { sd_bus_message_unref(reply) }
    do throws(BusError) {
        guard let arguments = call.readAll() else {
            throw BusError("InvalidArgs", "\(String(cString: member)) takes no arguments of these types")
        }
        let values = try handler.answer(
            BusCall(interface: interface, member: String(cString: member), arguments: arguments)
        )
        guard sd_bus_message_new_method_return(call, &reply) >= 0, let reply else { return 1 }
        for value in values { reply.append(value) }
    } catch {
        error.name.withCString { name in
            error.message.withCString { message in
                var error = sd_bus_error(name: name, message: message, needs_free: 0)
                _ = sd_bus_message_new_method_error(call, &reply, &error)
            }
        }
    }
    if reply != nil { _ = sd_bus_send(nil, reply, nil) }
    return 1
}

/// A message of libsystemd.
extension OpaquePointer {
    /// The arguments that are left; `nil` if one has a type that no method takes.
    fileprivate func readAll() -> [BusValue]? {
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let result = sd_bus_message_peek_type(self, &type, &contents)
            guard result > 0 else { return result == 0 ? values : nil }
            guard let value = read(type, contents) else { return nil }
            values.append(value)
        }
    }

    private func read(_ type: CChar, _ contents: UnsafePointer<CChar>?) -> BusValue? {
        switch UnicodeScalar(UInt8(bitPattern: type)) {
        case "s":
            var text: UnsafePointer<CChar>?
            return sd_bus_message_read_basic(self, type, &text) > 0
                ? text.map { .string(String(cString: $0)) } : nil
        case "o":
            var text: UnsafePointer<CChar>?
            return sd_bus_message_read_basic(self, type, &text) > 0
                ? text.map { .path(String(cString: $0)) } : nil
        case "i":
            var number: Int32 = 0
            return sd_bus_message_read_basic(self, type, &number) > 0 ? .int32(number) : nil
        case "x":
            var number: Int64 = 0
            return sd_bus_message_read_basic(self, type, &number) > 0 ? .int64(number) : nil
        case "d":
            var number = 0.0
            return sd_bus_message_read_basic(self, type, &number) > 0 ? .double(number) : nil
        case "b":
            var flag: Int32 = 0
            return sd_bus_message_read_basic(self, type, &flag) > 0 ? .bool(flag != 0) : nil
        case "v":
            guard sd_bus_message_enter_container(self, type, contents) > 0, let value = readAll()?.first,
                sd_bus_message_exit_container(self) >= 0
            else { return nil }
            return .variant(value)
        default: return nil
        }
    }

    /// Appends a value. A failure leaves the message unfinished, and it is then not sent.
    fileprivate func append(_ value: BusValue) {
        let type = CChar(bitPattern: value.signature.utf8.first ?? 0)
        switch value {
        case .string(let text), .path(let text): _ = sd_bus_message_append_basic(self, type, text)
        case .int32(var number): _ = sd_bus_message_append_basic(self, type, &number)
        case .int64(var number): _ = sd_bus_message_append_basic(self, type, &number)
        case .double(var number): _ = sd_bus_message_append_basic(self, type, &number)
        case .bool(let flag):
            var number: Int32 = flag ? 1 : 0
            _ = sd_bus_message_append_basic(self, type, &number)
        case .strings(let texts): inside("a", "s") { for text in texts { append(.string(text)) } }
        case .map(let values):
            inside("a", "{sv}") {
                for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                    inside("e", "sv") {
                        append(.string(name))
                        append(.variant(value))
                    }
                }
            }
        case .variant(let value): inside("v", value.signature) { append(value) }
        }
    }

    private func inside(_ container: UnicodeScalar, _ contents: String, _ body: () -> Void) {
        guard sd_bus_message_open_container(self, CChar(container.value), contents) >= 0 else { return }
        body()
        _ = sd_bus_message_close_container(self)
    }
}
