import CLuaBridge
import JSON
import Logging
import LuaBridge
import RestClient

/// Creates the host of a program that uses the C API. Called by `tureen_open`.
///
/// - Parameters:
///   - options: The JSON text of an object with the settings of `tureen.configure`.
///   - length: The length of the text in bytes.
///   - table: Receives the functions of the host.
///   - refusal: Receives the error object if the function returns 0.
/// - Returns: 1, or 0 on failure; `table` is not filled then.
@_cdecl("tureen_embedded_host")
public func tureenEmbeddedHost(
  _ options: UnsafePointer<CChar>, _ length: Int, _ table: UnsafeMutablePointer<tureen_host>,
  _ refusal: UnsafeMutablePointer<tureen_bytes>
) -> Int32 {
  LogSetup.silent()
  do {
    table.pointee = try embeddedBridge(Array(UnsafeRawBufferPointer(start: options, count: length))).makeTable()
    return 1
  } catch {
    refuse(BridgeError(embedding: error), refusal)
    return 0
  }
}

/// Parses the options of a function of the C API.
/// - Throws: ``HostError`` `.invalidConfiguration`.
func embeddedOptions(_ text: some Collection<UInt8>) throws -> JSONObject {
  let value: JSONValue
  do {
    value = try JSONValue(parsing: Array(text))
  } catch {
    throw HostError(.invalidConfiguration, "options: not JSON: \(error.message) at offset \(error.offset)")
  }
  guard let object = value.objectValue else {
    throw HostError(.invalidConfiguration, "options: must be an object, not \(value.kindName)")
  }
  return object
}

private func embeddedBridge(_ options: [UInt8]) throws -> Bridge {
  let object = try embeddedOptions(options)
  var settings = HostSettings()
  try settings.take(object, allowsProgram: true) { HostError(.invalidConfiguration, "options: '\($0)' \($1)") }
  let host = Host(settings: settings)
  try host.prepare()
  return try Bridge(host: host)
}

/// Starts a call of the C API. Like the table's `call`, but takes the store from the arguments.
@_cdecl("tureen_embedded_call")
public func tureenEmbeddedCall(
  _ context: UnsafeMutableRawPointer, _ request: UnsafePointer<tureen_request>, _ store: UnsafeMutablePointer<tureen_bytes>,
  _ refusal: UnsafeMutablePointer<tureen_bytes>
) -> Int64 {
  let given = request.pointee
  do throws(BridgeError) {
    return try Bridge.of(context).call(
      service: UnsafeRawBufferPointer(start: given.service, count: given.service_length),
      action: UnsafeRawBufferPointer(start: given.action, count: given.action_length),
      arguments: Array(UnsafeRawBufferPointer(start: given.arguments, count: given.arguments_length))
    ) { store.pointee = $0 }
  } catch {
    refuse(error, refusal)
    return 0
  }
}

/// Takes a report of `tureen_report`: 0 offline, 1 online, 2 pause, 3 resume. Never blocks.
@_cdecl("tureen_embedded_report")
public func tureenEmbeddedReport(_ context: UnsafeMutableRawPointer, _ state: Int32) {
  guard let host = Bridge.of(context).host as? Host else { return }
  switch state {
  case 0, 1: host.report(isOnline: state == 1)
  case 2: host.lifeReports.async { host.pauseLater() }
  default: host.lifeReports.async { host.resume() }
  }
}

/// Takes the program's answer to `sessionNeeded`. Never blocks.
/// - Returns: 0; -1 if the text is neither a session nor a refusal; -4 if no request is waiting for a session.
@_cdecl("tureen_embedded_give_session")
public func tureenEmbeddedGiveSession(
  _ context: UnsafeMutableRawPointer, _ json: UnsafePointer<CChar>, _ length: Int
) -> Int32 {
  guard let host = Bridge.of(context).host as? Host else { return -4 }
  do {
    return try host.giveSession(JSONValue(parsing: Array(UnsafeRawBufferPointer(start: json, count: length)))) ? 0 : -4
  } catch {
    Logger.tureen("host").warning("tureen_give_session: \((error as? HostError)?.message ?? "not valid JSON")")
    return -1
  }
}

/// Logs the error of a failed call without a callback, and builds the detail of its `uncaughtError` event. The error names the
/// call, as it does for a script's calls.
@_cdecl("tureen_embedded_uncaught")
public func tureenEmbeddedUncaught(
  _ service: UnsafePointer<CChar>, _ action: UnsafePointer<CChar>, _ error: UnsafePointer<CChar>, _ length: Int,
  _ detail: UnsafeMutablePointer<tureen_bytes>
) {
  let source = "\(String(cString: service)):\(String(cString: action))"
  let bytes = Array(UnsafeRawBufferPointer(start: error, count: length))
  var object = (try? JSONValue(parsing: bytes))?.objectValue ?? JSONObject()
  object["source"] = .string(source)
  let message = object["message"]?.stringValue ?? "the call failed"
  Logger.tureen("bridge").error("\(source), called without a callback, failed: \(message)")
  let told: JSONValue = ["error": .object(object), "traceback": .string("in \(source), called without a callback")]
  detail.pointee = Payload(told.serialized()).release()
}

private func refuse(_ error: BridgeError, _ refusal: UnsafeMutablePointer<tureen_bytes>) {
  refusal.pointee = Payload(error.serialized).release()
}

extension BridgeError {
  /// Converts an error of opening a host to the form that the C API returns.
  init(embedding error: any Error) {
    switch error {
    case let error as BridgeError: self = error
    case let error as any BridgeErrorConvertible: self = error.bridgeError
    default: self.init(domain: "bridge", code: "internal", message: String(describing: error))
    }
  }
}
