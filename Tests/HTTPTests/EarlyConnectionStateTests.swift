import CCurl
import Glibc
@testable import HTTP
import Media
import Testing

struct EarlyConnectionStateTests {
    private static let ours = address("192.0.2.1")
    private static let next = address("192.0.2.2")
    private static let other = address("2001:db8::1")

    private static func address(_ text: String, port: UInt16 = 80) -> SocketAddress {
        guard let address = SocketAddress(numeric: text, port: port) else {
            preconditionFailure("\(text) is no address")
        }
        return address
    }

    private func makeState(_ found: [SocketAddress]) -> EarlyConnectionState {
        var state = EarlyConnectionState(limit: .seconds(10), now: .seconds(1))
        #expect(state.outcome == .undecided && state.nextLook == .seconds(11))
        #expect(state.found(found, at: .seconds(2)) == .connect(found[0]))
        return state
    }

    @Test func `the preferred address is tried alone, for as long as it takes`() {
        var state = makeState([Self.ours, Self.next])
        #expect(state.nextLook == .seconds(11))
        #expect(state.timePassed(now: .milliseconds(10_999)) == .none)
        #expect(state.outcome == .undecided)
        state.connected(to: Self.ours)
        #expect(state.outcome == .connected(Self.ours))
        // It is kept as long as a request would wait for it.
        #expect(state.nextLook == .seconds(11))
        #expect(state.timePassed(now: .seconds(11)) == .none)
        #expect(state.outcome == .over && state.nextLook == nil)
    }

    @Test func `the other family is tried beside it after its head start, and the first to answer wins`() {
        for winner in [Self.ours, Self.other] {
            var state = makeState([Self.ours, Self.next, Self.other])
            #expect(state.nextLook == .milliseconds(2_200))
            #expect(state.timePassed(now: .milliseconds(2_199)) == .none)
            #expect(state.timePassed(now: .milliseconds(2_200)) == .connect(Self.other))
            #expect(state.nextLook == .seconds(11))
            #expect(state.timePassed(now: .milliseconds(2_400)) == .none)
            state.connected(to: winner)
            state.connected(to: winner == Self.ours ? Self.other : Self.ours)
            #expect(state.outcome == .connected(winner))
        }
    }

    @Test func `the other family is tried at once when the first refuses, and nothing comes of two refusals`()
    {
        var state = makeState([Self.other, Self.ours])
        #expect(state.failed(Self.other, at: .milliseconds(2_001)) == .connect(Self.ours))
        #expect(state.outcome == .undecided)
        #expect(state.failed(Self.ours, at: .milliseconds(2_002)) == .none)
        #expect(state.outcome == .over)
    }

    @Test func `a refusal beside one that may still answer decides nothing`() {
        var state = makeState([Self.other, Self.ours])
        #expect(state.timePassed(now: .milliseconds(2_300)) == .connect(Self.ours))
        #expect(state.failed(Self.ours, at: .milliseconds(2_301)) == .none)
        #expect(state.outcome == .undecided)
        state.connected(to: Self.other)
        #expect(state.outcome == .connected(Self.other))
    }

    @Test func `a host without an address ends it, and what comes after its end changes nothing`() {
        var state = EarlyConnectionState(limit: .seconds(10), now: .zero)
        #expect(state.timePassed(now: .seconds(5)) == .none)
        #expect(state.found([], at: .seconds(6)) == .none)
        #expect(state.outcome == .over)
        #expect(state.found([Self.ours], at: .seconds(7)) == .none)
        state.connected(to: Self.ours)
        #expect(state.failed(Self.ours, at: .seconds(8)) == .none)
        #expect(state.outcome == .over)
    }

    @Test(
        arguments: [
            ("http://music.example/", true), ("https://music.example:8443/a", true),
            ("http://my_host/", true),
            ("http://192.0.2.1/", true), ("http://[2001:db8::1]:8000/", true), ("http://127.1/", true),
            // libcurl answers for these itself, asks nobody about them, or spells them in another way.
            ("http://localhost:8000/", false), ("http://music.localhost/", false),
            ("http://music.onion/", false), ("http://müsik.example/", false),
            ("http://music.example./", false),
        ]
    )
    func `a connection is begun where libcurl would ask the system for the same`(url: String, isBegun: Bool)
        throws
    {
        let url = try #require(WebURL(url))
        var configuration = HTTPConfiguration()
        #expect((EarlyTarget(url, configuration: configuration) != nil) == isBegun)
        configuration.hasProxy = true
        #expect(EarlyTarget(url, configuration: configuration) == nil)
    }

    @Test func `libcurl is told all addresses of a name, the one that answered first`() throws {
        let name = try #require(WebURL("https://music.example/a"))
        let target = try #require(EarlyTarget(name, configuration: HTTPConfiguration()))
        let all = [Self.ours, Self.other, Self.next]
        #expect(
            target.resolution(all, first: Self.other)
                == "+music.example:443:[2001:db8::1],192.0.2.1,192.0.2.2"
        )
        #expect(target.resolution(all, first: nil) == "+music.example:443:192.0.2.1,[2001:db8::1],192.0.2.2")
        #expect(target.resolution([], first: nil) == nil)
        let numeric = try #require(WebURL("http://192.0.2.1/a"))
        #expect(
            EarlyTarget(numeric, configuration: .init())?.resolution([Self.ours], first: Self.ours) == nil
        )
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1"])
    func `an address is the same in the system's form and back`(text: String) throws {
        let address = Self.address(text, port: 8_443)
        let back = address.withSystemForm { SocketAddress(UnsafeRawPointer($0), length: Int($1)) }
        #expect(back == address && back?.port == 8_443)
        #expect(address.text == (text.contains(":") ? "[\(text)]" : text))
        #expect(address.withSystemForm { SocketAddress(UnsafeRawPointer($0), length: Int($1) - 1) } == nil)
        #expect(SocketAddress(numeric: text, port: 443) != address)
        #expect(SocketAddress(numeric: "music.example", port: 80) == nil)
    }

    @Test func `libcurl gets the socket once, and only for the very same address`() {
        var pair: [Int32] = [0, 0]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
        defer { close(pair[1]) }
        var handed: HandedSocket? = HandedSocket(pair[0], to: Self.address("127.0.0.1", port: 9))
        for (text, port, isOurs) in [
            ("127.0.0.1", 8, false), ("127.0.0.2", 9, false), ("127.0.0.1", 9, true), ("127.0.0.1", 9, false),
        ] as [(String, UInt16, Bool)] {
            let (socket, answer) = ask(handed, for: Self.address(text, port: port))
            #expect((socket == pair[0]) == isOurs)
            #expect((answer == CURL_SOCKOPT_ALREADY_CONNECTED) == isOurs)
            if !isOurs { close(socket) }
        }
        // Once given away it is libcurl's to close.
        handed = nil
        #expect(fcntl(pair[0], F_GETFD) != -1)
        handed = HandedSocket(pair[0], to: Self.address("127.0.0.1", port: 9))
        close(ask(handed, for: Self.address("127.0.0.1", port: 8)).socket)
        handed = nil
        var byte: UInt8 = 0
        #expect(recv(pair[1], &byte, 1, Int32(MSG_DONTWAIT)) == 0)
    }

    /// As libcurl asks.
    private func ask(_ handed: HandedSocket?, for address: SocketAddress) -> (socket: Int32, answer: Int32) {
        guard let handed else { return (-1, -1) }
        var wanted = curl_sockaddr()
        wanted.family = address.family
        wanted.socktype = Int32(SOCK_STREAM.rawValue)
        address.withSystemForm { form, length in
            wanted.addrlen = length
            wanted.addr = form.pointee
        }
        let context = Unmanaged.passUnretained(handed).toOpaque()
        let socket = HandedSocket.open(context, CURLSOCKTYPE_IPCXN, &wanted)
        return (socket, HandedSocket.option(context, socket, CURLSOCKTYPE_IPCXN))
    }
}
