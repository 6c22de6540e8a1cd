import ArgumentParser
import Glibc
import JSON
import LuaBridge
import Tureen

/// Calls of the bridge that one command makes, with the progress of its syncs.
final class BridgeCalls {
  let host: Host
  let store: StoreReference
  private let bridge: Bridge
  private let display: SyncDisplay
  private let work: InterruptibleWork

  private init(_ host: Host, _ bridge: Bridge, _ store: StoreReference, _ display: SyncDisplay, _ work: InterruptibleWork) {
    self.host = host
    self.bridge = bridge
    self.store = store
    self.display = display
    self.work = work
  }

  var isInterrupted: Bool { work.isInterrupted }

  /// Runs a command on its own host and ends it with its exit status.
  ///
  /// - Parameters:
  ///   - configDirectory: The folder with the configuration files; nil for none.
  ///   - store: The store that each call names.
  ///   - isJSON: Whether to write errors as objects.
  ///   - looksOnly: Whether the command only looks into stores: nothing is created, and no secret is read.
  ///   - asksOnly: Whether the command asks servers and only looks into stores.
  ///   - body: Returns the exit status. It may throw the error of a failed call, or of output whose reader is gone.
  static func run(
    _ place: HostOptions, configDirectory: String?, store: StoreReference = StoreReference(),
    style: SyncDisplay.Style = .none, isJSON: Bool = false, looksOnly: Bool = false, asksOnly: Bool = false,
    _ body: (BridgeCalls) throws -> Int32
  ) throws {
    let prepared = try place.prepare(configDirectory: configDirectory) { ($0.looksOnly, $0.asksOnly) = (looksOnly, asksOnly) }
    let work = InterruptibleWork()
    let interrupts = InterruptWatch { work.interrupt() }
    let status = try status(of: prepared, store, style, isJSON, work, body)
    if interrupts.happened { throw ExitCode(ExitStatus.interrupted) }
    guard status == 0 else { throw ExitCode(status) }
  }

  /// Does one run of a command that repeats its work, on a host of its own: between runs no store is open, and each run reads the
  /// configuration files as they are then.
  /// - Parameter work: What an interrupt of the command ends.
  /// - Returns: The exit status that a command with this run alone would have.
  static func repeated(
    _ place: HostOptions, configDirectory: String?, store: StoreReference, style: SyncDisplay.Style, isJSON: Bool,
    work: InterruptibleWork, _ body: (BridgeCalls) throws -> Int32
  ) -> Int32 {
    ended(by: isJSON) {
      try status(of: try place.prepare(configDirectory: configDirectory), store, style, isJSON, work, body)
    }
  }

  private static func status(
    of prepared: (host: Host, sandbox: EmbeddedSandbox), _ store: StoreReference, _ style: SyncDisplay.Style, _ isJSON: Bool,
    _ work: InterruptibleWork, _ body: (BridgeCalls) throws -> Int32
  ) throws -> Int32 {
    let host = prepared.host
    // The error that a call ends with says why its sync failed.
    let display = SyncDisplay(style: style, tellsFailures: false)
    let bridge = try Bridge(host: ObservedHost(host, display: display))
    work.begin {
      display.clear()
      host.stopSyncs()
      bridge.interrupt()
    }
    display.follow(bridge)
    let status = ended(by: isJSON) { try body(BridgeCalls(host, bridge, store, display, work)) }
    display.finish()
    bridge.close()
    work.finish()
    prepared.sandbox.stop()
    return status
  }

  /// Runs `body`; prints the error that ends it early and returns its exit status.
  static func ended(by isJSON: Bool, _ body: () throws -> Int32) -> Int32 {
    do {
      return try body()
    } catch let failure as CallFailure {
      failure.report(asJSON: isJSON)
      return failure.status
    } catch let failure as CommandFailure {
      if isJSON { write(JSONValue.object(failure.json).text + "\n", to: STDERR_FILENO) } else { complain(failure.message) }
      return failure.status
    } catch let exit as ExitCode {
      // Its reason has been printed.
      return exit.rawValue
    } catch ByteOutput.Failure.noReader {
      return 0
    } catch ByteOutput.Failure.failed(let message) {
      complain(message)
      return ExitStatus.unavailable
    } catch {
      complain(error, asJSON: isJSON)
      return ExitStatus.of(error)
    }
  }

  /// Makes a call with exactly these arguments. - Parameter service: The full name.
  func perform(_ service: String, _ action: String, _ arguments: JSONObject) -> Bridge.Reply {
    bridge.perform(service: service, action: action, arguments: arguments)
  }

  /// Makes a call on the command's store. - Returns: The result as JSON text.
  /// - Throws: ``CallFailure``.
  func text(_ service: String, _ action: String, _ arguments: JSONObject = [:]) throws(CallFailure) -> [UInt8] {
    var arguments = arguments
    let concernsAllStores = SmartStoreAction(rawValue: action)?.concernsAllStores == true
    if ["smartstore", "mobilesync"].contains(service), !concernsAllStores {
      arguments["storeName"] = .string(store.name)
      arguments["isGlobalStore"] = .bool(store.isGlobal)
    }
    switch perform(ExecCommand.fullName(service), action, arguments) {
    case .success(let payload): return payload
    case .failure(let error): throw CallFailure(error)
    }
  }

  func value(_ service: String, _ action: String, _ arguments: JSONObject = [:]) throws(CallFailure) -> JSONValue {
    let text = try text(service, action, arguments)
    return (try? JSONValue(parsing: text)) ?? .null
  }

  /// Returns the same calls for another store.
  func on(_ other: StoreReference) -> BridgeCalls { BridgeCalls(host, bridge, other, display, work) }

  /// Does something that an interrupt of the command ends in a way of its own.
  func interruptible<T>(by end: @escaping @Sendable () -> Void, _ body: () throws -> T) rethrows -> T {
    let former = work.begin(end)
    defer { if let former { work.begin(former) } }
    return try body()
  }

  /// Removes the bar before something is printed on the same terminal.
  func clearProgress() { display.clear() }

  /// Prints the remaining progress and stops drawing.
  func finishProgress() { display.finish() }
}
