import Dispatch
import Glibc
import Synchronization
import TestSupport

/// Passes bytes between a client and a server, and can lose the connection at a chosen byte.
final class CuttingProxy: Sendable {
  enum Direction: Sendable { case toServer, toClient }

  enum Fault: Sendable {
    /// Closes both sides once so many bytes have passed in a direction since the fault was set.
    case cut(Direction, after: Int)
    /// Keeps a flight of the client until `release`. The client loses its connection as soon as it has sent all of it.
    case hold
  }

  private struct State {
    var fault: Fault?
    var passed: [Direction: Int] = [:]
    var cuts = 0
    var held: [UInt8] = []
    /// The server's side of the connection with held bytes.
    var heldServer: Int32 = -1
  }

  let port: Int
  private let serverPort: Int
  private let listener: Int32
  private let state = Mutex(State())
  private let isReleased = DispatchSemaphore(value: 0), hasEnded = DispatchSemaphore(value: 0)

  init(to serverPort: Int) {
    self.serverPort = serverPort
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    port = Loopback.bind(listener) ?? 0
    precondition(listen(listener, 16) == 0)
    inThread { self.accept() }
  }

  func close() {
    // The thread that accepts closes it: until then its number must not become another socket's.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// Sets the next fault; counting begins now. It happens once.
  func set(_ fault: Fault?) {
    state.withLock {
      $0.fault = fault
      $0.passed = [:]
    }
  }

  /// Bytes that have passed in a direction since the last `set`.
  func passed(_ direction: Direction) -> Int { state.withLock { $0.passed[direction] ?? 0 } }

  var cuts: Int { state.withLock { $0.cuts } }

  /// Delivers the bytes held back, and waits until the server has dealt with them.
  func release() {
    isReleased.signal()
    hasEnded.wait()
  }

  // MARK: Threads

  private func inThread(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "proxy").async(execute: body)
  }

  private func accept() {
    defer { Glibc.close(listener) }
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { return }
      guard let server = Loopback.connect(serverPort) else {
        Glibc.close(client)
        continue
      }
      let pair = Pair(client: client, server: server)
      inThread { self.pump(pair, .toServer) }
      inThread { self.pump(pair, .toClient) }
    }
  }

  /// The two sockets of a connection, closed when both directions have ended.
  private final class Pair: Sendable {
    let client: Int32, server: Int32

    init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }

    deinit {
      Glibc.close(client)
      Glibc.close(server)
    }

    func cut() {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
    }
  }

  private func pump(_ pair: Pair, _ direction: Direction) {
    let from = direction == .toServer ? pair.client : pair.server, to = direction == .toServer ? pair.server : pair.client
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(from, &chunk, chunk.count, 0)
      if count <= 0 { break }
      switch verdict(direction, Array(chunk[..<count]), pair) {
      case .pass(let bytes): send(bytes, to)
      case .cut(let bytes):
        send(bytes, to)
        pair.cut()
        return
      case .held(let isWhole): if isWhole { shutdown(pair.client, Int32(SHUT_RDWR)) }
      }
    }
    if direction == .toServer, state.withLock({ $0.heldServer == pair.server }) {
      isReleased.wait()
      send(state.withLock { $0.held }, pair.server)
      shutdown(pair.server, Int32(SHUT_WR))
      return
    }
    if direction == .toClient, state.withLock({ $0.heldServer == pair.server }) {
      hasEnded.signal()
      return
    }
    pair.cut()
  }

  private enum Verdict {
    case pass([UInt8]), cut([UInt8]), held(isWhole: Bool)
  }

  /// The message `Sync`, the last one of a flight.
  private static let endOfFlight = [UInt8(ascii: "S"), 0, 0, 0, 4]

  private func verdict(_ direction: Direction, _ bytes: [UInt8], _ pair: Pair) -> Verdict {
    state.withLock { state in
      let before = state.passed[direction] ?? 0
      switch state.fault {
      case .cut(direction, let limit) where before + bytes.count >= limit:
        state.fault = nil
        state.cuts += 1
        state.passed[direction] = limit
        return .cut(Array(bytes.prefix(max(0, limit - before))))
      case .hold where direction == .toServer && (state.heldServer < 0 || state.heldServer == pair.server):
        state.heldServer = pair.server
        state.held += bytes
        return .held(isWhole: state.held.suffix(Self.endOfFlight.count).elementsEqual(Self.endOfFlight))
      default:
        state.passed[direction] = before + bytes.count
        return .pass(bytes)
      }
    }
  }

  private func send(_ bytes: [UInt8], _ to: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
