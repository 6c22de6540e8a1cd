import Foundation
import JSON
import TestSupport

@testable import SmartStore

/// The built `tureen`, running a script that applies commands, one per line, to the global store of
/// a home folder.
final class SecondProcess {
  /// Next to the test bundle, so that each build folder tests its own program.
  static let program: URL = {
    let own = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folders =
      [URL(fileURLWithPath: own), URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()]
      .map { $0.deletingLastPathComponent() } + [package.appendingPathComponent(".build/debug")]
    let programs = folders.map { $0.appendingPathComponent("tureen") }
    return programs.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? programs[0]
  }()

  private static let script = """
    local tureen = require "tureen"
    for line in io.lines() do
      local call, answer = tureen.json.decode(line), nil
      local config = { isGlobalStore = true, storeName = call.store }
      local values = { config, table.unpack(call.arguments) }
      values[#values + 1] = function(value) answer = { value = value } end
      values[#values + 1] = function(err) answer = { error = err.code } end
      tureen.smartstore[call.name](table.unpack(values))
      while not answer do tureen.poll(1000) end
      print(tureen.json.encode(answer))
      io.stdout:flush()
    end
    """

  private let process: ChildProcess
  private var isRunning = true
  private var received = Data()

  /// - Parameter home: The folder of the stores and of the script.
  init(home: String) throws {
    let script = home + "/script.lua"
    try Data(SecondProcess.script.utf8).write(to: URL(fileURLWithPath: script))
    let store = try TestEngine.environment(home: home)
    process = try ChildProcess.start(
      [SecondProcess.program.path, "run", "--home", home, script],
      environment: ProcessInfo.processInfo.environment.merging(store) { $1 }, takesInput: true, errors: .inherited)
  }

  deinit { kill() }

  /// Kills it at once.
  func kill() {
    guard isRunning else { return }
    isRunning = false
    Glibc.kill(process.id, SIGKILL)
    _ = process.wait()
    close(process.input)
    close(process.output)
  }

  struct Silence: Error {}

  /// Calls a function of the store and waits for the arguments of its callback.
  func call(_ name: String, _ arguments: [JSONValue]) throws -> JSONValue {
    try send(name, arguments)
    return try receive()
  }

  /// Calls a function. - Parameter store: nil for the default store.
  func send(_ name: String, _ arguments: [JSONValue], store: String? = nil) throws {
    var call: JSONObject = ["name": .string(name), "arguments": .array(arguments)]
    call["store"] = store.map { .string($0) }
    try FileHandle(fileDescriptor: process.input).write(contentsOf: call.serialized() + [0x0a])
  }

  /// Waits for the arguments of the next callback.
  func receive() throws -> JSONValue {
    while true {
      if let end = received.firstIndex(of: 0x0a) {
        defer { received = Data(received[(end + 1)...]) }
        return try JSONValue(parsing: Array(received[..<end]))
      }
      guard let more = ChildProcess.read(process.output) else { throw Silence() }
      received.append(contentsOf: more)
    }
  }

  /// Applies an operation to the soup `s`.
  func run(_ operation: SoupOperation) throws -> SoupOutcome {
    let answer =
      switch operation {
      case .upsert(let entries, let path):
        try call("upsertSoupEntriesWithExternalId", ["s", .array(entries.map { .object($0) }), .string(path)])
      case .remove(let ids): try call("removeFromSoup", ["s", .array(ids.map { .integer($0) })])
      case .removeWhere: try call("removeFromSoup", ["s", .object(operation.querySpec)])
      case .clear: try call("clearSoup", ["s"])
      case .alter(let specs, let reIndexData): try call("alterSoup", ["s", .array(specs.map(\.json)), .bool(reIndexData)])
      case .reIndex(let paths): try call("reIndexSoup", ["s", .array(paths.map { .string($0) })])
      }
    if let code = answer["error"]?.stringValue { return .failed(code) }
    guard case .upsert = operation else { return .done }
    return .ids((answer["value"]?.arrayValue ?? []).compactMap { $0["_soupEntryId"]?.integerValue })
  }
}
