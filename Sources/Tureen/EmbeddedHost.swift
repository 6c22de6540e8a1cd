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

extension Host: ProgramReports {
  /// Takes a report of `tureen_report`: 0 offline, 1 online, 2 pause, 3 resume. Never blocks.
  package func takeReport(_ state: Int32) {
    switch state {
    case 0, 1: report(isOnline: state == 1)
    case 2: lifeReports.async { self.pauseLater() }
    default: lifeReports.async { self.resume() }
    }
  }

  /// Takes the program's answer to `sessionNeeded`. Never blocks.
  /// - Returns: 0; -1 if the text is neither a session nor a refusal; -4 if no request is waiting for a session.
  package func takeSession(_ json: [UInt8]) -> Int32 {
    do {
      return try giveSession(JSONValue(parsing: json)) ? 0 : -4
    } catch {
      Logger.tureen("host").warning("tureen_give_session: \((error as? HostError)?.message ?? "not valid JSON")")
      return -1
    }
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
