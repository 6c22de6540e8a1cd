import ArgumentParser
import Glibc
import JSON
import LuaBridge
import Tureen

struct ExecCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exec",
    abstract: "Make one call of the bridge and print its result as JSON.",
    usage: """
      tureen exec [<options>] <service> <action> [<arguments>]
             tureen exec --list [<service>]
      """,
    discussion: """
      SERVICE and ACTION name a call, such as com.salesforce.smartstore pgSoupExists; --list shows them all. A service's last \
      word is enough, and an action's name without pg or kv: smartstore soupExists. JSON is one object with the arguments; '-' \
      reads it from standard input. A sync is waited for, with a progress bar on a terminal; its result is its last state.

      The result goes to stdout, indented on a terminal, else on one line. Everything else goes to stderr.
      """
        + ExitStatus.help([
          (0, "done"),
          (1, "the call failed; the error is on stderr"),
          (64, "wrong usage: no such service or action, or wrong arguments"),
          (67, "a sign-in is needed or was refused, or the org or user is not known"),
          (75, "the call failed or its sync was stopped; try again later"),
          (78, "a configuration file is wrong; the message names file, line and key"),
          (130, "interrupted: the sync was stopped at a page boundary and saved as STOPPED"),
        ]))

  @OptionGroup var place: HostOptions

  @OptionGroup var project: ProjectOptions

  @Flag(help: "Print the error as a JSON object and each sync event as a line of JSON, on stderr. No progress bar.")
  var json = false

  @Flag(help: "Print no progress and no warnings.")
  var quiet = false

  @Flag(help: "List the services and their actions, or those of SERVICE, and make no call.")
  var list = false

  @Argument(
    help: "The service, such as smartstore, mobilesync, network, oauth, keyvalue.", completion: .list(ActionList.shortNames))
  var service: String?

  @Argument(help: "The action, such as pgQuerySoup.", completion: NameCompletion.action)
  var action: String?

  @Argument(help: "The arguments, one JSON object; '-' reads it from standard input.")
  var arguments = "{}"

  func run() throws {
    if list { return try write(ActionList(service: service.map(Self.fullName)).text, to: STDOUT_FILENO) }
    guard let service = service.map(Self.fullName) else { throw ValidationError("Missing expected argument '<service>'") }
    guard let action = action.map({ ActionCatalog.wireName(of: $0, in: service) }) else {
      throw ValidationError("Missing expected argument '<action>'")
    }
    try call(service, action)
  }

  private func call(_ service: String, _ action: String) throws {
    let object = try parsedArguments()
    guard action != "pgObserve" else { throw ValidationError("pgObserve answers as long as a script runs: use tureen run") }
    let style: SyncDisplay.Style = json ? .json(STDERR_FILENO) : quiet ? .none : .progress
    let store = StoreReference(of: object)
    try BridgeCalls.run(place, configDirectory: project.folder, store: store, style: style, isJSON: json) { calls in
      let reply = calls.perform(service, action, object)
      calls.finishProgress()
      return report(reply, of: action, hint: Self.hint(for: reply, object, calls))
    }
  }

  /// The soup or sync that a mistyped name probably means; empty if there is none.
  private static func hint(for reply: Bridge.Reply, _ arguments: JSONObject, _ calls: BridgeCalls) -> String {
    guard case .failure(let error) = reply else { return "" }
    let known: (key: String, names: [String]?)
    switch CallFailure(error).code {
    case "noSuchSoup": known = ("soupName", try? calls.soupNames())
    case "noSuchSync": known = ("syncName", try? calls.syncNames())
    default: return ""
    }
    guard let name = arguments[known.key]?.stringValue, let names = known.names else { return "" }
    return NearestName.find(name, among: names).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// A single word means one of the model's services; `accounts`, `asset`, `keyvalue` and `sandbox` are Tureen's own.
  static func fullName(_ service: String) -> String {
    if service.contains(".") { return service }
    return (["accounts", "asset", "keyvalue", "sandbox"].contains(service) ? "tureen." : "com.salesforce.") + service
  }

  private func parsedArguments() throws -> JSONObject {
    let bytes = arguments == "-" ? try Self.standardInput() : Array(arguments.utf8)
    let source = arguments == "-" ? "standard input" : "the argument '\(arguments.prefix(60))'"
    let value: JSONValue
    do {
      value = try JSONValue(parsing: bytes)
    } catch {
      let place = error.position(in: bytes)
      throw ValidationError("\(source) is not JSON: \(error.message) in line \(place.line), column \(place.column)")
    }
    guard let object = value.objectValue else {
      throw ValidationError("\(source) must be a JSON object, such as '{\"soupName\": \"contacts\"}', not \(value.kindName)")
    }
    return object
  }

  static func standardInput() throws -> [UInt8] {
    var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(STDIN_FILENO, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw ValidationError("standard input cannot be read: \(String(cString: strerror(errno)))") }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// Prints the result. - Returns: the exit status.
  private func report(_ reply: Bridge.Reply, of action: String, hint: String) -> Int32 {
    switch reply {
    case .success(let payload):
      let isTerminal = isatty(STDOUT_FILENO) == 1
      let text = String(decoding: isTerminal ? JSONLayout.indented(payload) : payload, as: UTF8.self)
      write((isTerminal ? TerminalText.escapedJSON(text) : text) + "\n", to: STDOUT_FILENO)
      return isStopped(payload, action) ? ExitStatus.tryAgain : 0
    case .failure(let text):
      var failure = CallFailure(text)
      failure.hint = hint
      failure.report(asJSON: json)
      return status(of: .object(failure.error))
    }
  }

  /// A stopped sync is not done, unless it ended at its own limit of pages.
  private func isStopped(_ payload: [UInt8], _ action: String) -> Bool {
    guard ["syncDown", "syncUp", "reSync", "refresh", "more"].contains(action), let state = try? JSONValue(parsing: payload)
    else {
      return false
    }
    return state["status"]?.stringValue == "STOPPED" && state["hasMore"]?.boolValue != true
  }

  private func status(of error: JSONValue) -> Int32 {
    if error["domain"]?.stringValue == "bridge",
      ["unknownService", "unknownAction", "invalidArguments"].contains(error["code"]?.stringValue ?? "")
    {
      return ExitStatus.usage
    }
    return ExitStatus.of(error)
  }
}
