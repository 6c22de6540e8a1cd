import JSON
import Tureen

/// An error of the bridge, with a hint that its object does not have.
struct CallFailure: Error {
  let error: JSONObject
  /// Follows the message, such as `; did you mean 'contacts'?`.
  var hint = ""

  init(_ text: [UInt8]) { error = (try? JSONValue(parsing: text))?.objectValue ?? [:] }

  init(domain: String, code: String, _ message: String) {
    error = ["domain": .string(domain), "code": .string(code), "message": .string(message), "retryable": false]
  }

  /// The failure for a mistyped sync, with the one that was probably meant.
  static func noSuchSync(_ name: String, among known: [String]) -> CallFailure {
    let hint = BridgeCalls.hint(for: name, among: known, none: "; name the folder of usersyncs.json with --config")
    return CallFailure(domain: "sync", code: "noSuchSync", "sync '\(name)' does not exist\(hint)")
  }

  var domain: String { error["domain"]?.stringValue ?? "bridge" }
  var code: String { error["code"]?.stringValue ?? "internal" }
  var message: String { (error["message"]?.stringValue ?? "the call failed") + hint }
  var status: Int32 { ExitStatus.of(.object(error)) }

  /// Writes the failure to stderr.
  func report(asJSON: Bool) {
    guard asJSON else { return complain("\(message) (\(domain)/\(code))") }
    var object = error
    object["message"] = .string(message)
    write(TerminalText.escapedJSON(JSONValue.object(object).text) + "\n", to: 2)
  }
}

/// A mistake in a command's arguments that a person has to correct. Ends the command with a status and a message.
struct CommandFailure: Error {
  let status: Int32
  let message: String

  init(_ message: String, status: Int32 = ExitStatus.callFailed) {
    self.status = status
    self.message = message
  }

  var json: JSONObject {
    let code = status == ExitStatus.callFailed ? "internal" : "invalidArguments"
    return ["domain": "bridge", "code": .string(code), "message": .string(message), "retryable": false]
  }
}
