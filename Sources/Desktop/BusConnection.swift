import CSystemd
import Glibc
import System

/// A connection to a bus. Used by one thread only.
final class BusConnection {
    enum Bus {
        /// The bus of the user's session.
        case session
        /// The bus of the machine.
        case system
    }

    /// A program on the bus, with the object and the interface of which it is asked.
    struct Service {
        let name: String
        let path: String
        let interface: String
    }

    /// libsystemd, which libpulse has loaded already.
    static let library = OptionalLibrary { csystemd_load().map { String(cString: $0) } }

    private let bus: OpaquePointer
    private var handlers: [AnyObject] = []
    /// No program of the machine takes longer, unless it hangs.
    private static let callLimit = Duration.seconds(5)

    /// Keeps the closure at an address that libsystemd can hold.
    fileprivate final class Handler {
        let answer: (BusCall) throws(BusError) -> [BusValue]

        init(_ answer: @escaping (BusCall) throws(BusError) -> [BusValue]) { self.answer = answer }
    }

    fileprivate final class Listener {
        let receive: (BusCall) -> Void

        init(_ receive: @escaping (BusCall) -> Void) { self.receive = receive }
    }

    /// Connects. libsystemd must be open. `nil` if there is no such bus.
    init?(to which: Bus) {
        var bus: OpaquePointer?
        let result =
            switch which {
            case .session: sd_bus_open_user(&bus)
            case .system: sd_bus_open_system(&bus)
            }
        guard result >= 0, let bus else { return nil }
        self.bus = bus
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

    // MARK: The player on the bus

    /// Calls `answer` for each call of the player's object from now on. `false` if the bus refuses the
    /// player.
    ///
    /// The first player of the session gets the plain name, others one with their process number.
    func publish(answer: @escaping (BusCall) throws(BusError) -> [BusValue]) -> Bool {
        let handler = Handler(answer)
        handlers.append(handler)
        let context = Unmanaged.passUnretained(handler).toOpaque()
        let added = sd_bus_add_object(bus, nil, MPRISInterface.objectPath, answerCall, context)
        let name = MPRISInterface.busName
        return added >= 0
            && (sd_bus_request_name(bus, name, 0) >= 0
                || sd_bus_request_name(bus, name + ".instance\(getpid())", 0) >= 0)
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

    // MARK: Other programs

    /// Calls `receive` for each signal that `rule` selects, from `process`; without its arguments if one has
    /// a type that is not used. `false` if the bus refuses.
    func listen(for rule: String, _ receive: @escaping (BusCall) -> Void) -> Bool {
        let listener = Listener(receive)
        handlers.append(listener)
        return sd_bus_add_match(bus, nil, rule, receiveSignal, Unmanaged.passUnretained(listener).toOpaque())
            >= 0
    }

    /// A file descriptor that a method returns, which the caller closes. Waits for the answer. `nil` if the
    /// program does not run, or refuses.
    func descriptor(from service: Service, _ method: String, _ arguments: [String]) -> Int32? {
        guard let reply = call(service, service.interface, method, arguments) else { return nil }
        defer { sd_bus_message_unref(reply) }
        var descriptor: Int32 = -1
        // The message closes its own one.
        guard sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "h")), &descriptor) > 0,
            case let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0), copy >= 0
        else { return nil }
        return copy
    }

    /// The value of a property. Waits for the answer. `nil` if the program does not run, or does not have it.
    func property(_ name: String, of service: Service) -> BusValue? {
        let arguments = [service.interface, name]
        guard let reply = call(service, MPRISInterface.properties.name, "Get", arguments) else { return nil }
        defer { sd_bus_message_unref(reply) }
        guard case .variant(let value) = reply.readAll()?.first else { return nil }
        return value
    }

    /// The answer, to be released. Starts no program.
    private func call(
        _ service: Service,
        _ interface: String,
        _ method: String,
        _ arguments: [String]
    ) -> OpaquePointer? {
        var message: OpaquePointer?
        guard
            sd_bus_message_new_method_call(bus, &message, service.name, service.path, interface, method) >= 0,
            let message
        else { return nil }
        defer { sd_bus_message_unref(message) }
        _ = sd_bus_message_set_auto_start(message, 0)
        for argument in arguments { message.append(.string(argument)) }
        var reply: OpaquePointer?
        let limit = UInt64(Self.callLimit.wholeMicroseconds)
        return sd_bus_call(bus, message, limit, nil, &reply) >= 0 ? reply : nil
    }
}

/// Passes on a signal; libsystemd calls it for each that a rule selects.
private func receiveSignal(
    signal: OpaquePointer?,
    context: UnsafeMutableRawPointer?,
    _: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let signal, let context, let member = sd_bus_message_get_member(signal) else { return 0 }
    let interface = sd_bus_message_get_interface(signal).map { String(cString: $0) } ?? ""
    let listener = Unmanaged<BusConnection.Listener>.fromOpaque(context).takeUnretainedValue()
    let arguments = signal.readAll() ?? []
    listener.receive(BusCall(interface: interface, member: String(cString: member), arguments: arguments))
    return 0
}

/// Answers a call; libsystemd calls it for the player's object.
private func answerCall(
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
        case "u":
            var number: UInt32 = 0
            return sd_bus_message_read_basic(self, type, &number) > 0 ? .uint32(number) : nil
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
        case .uint32(var number): _ = sd_bus_message_append_basic(self, type, &number)
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
