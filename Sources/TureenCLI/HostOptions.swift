import ArgumentParser
import RestClient
import SmartStore
import Support
import Tureen

extension HostOptions {
  /// Adds the level to a bare `--log-requests`, and splits `--home=` into the option and its empty value. The parser would take
  /// the next word, such as the script, for the level or the home.
  ///
  /// - Parameter arguments: The command line without the program's name. Arguments after the script belong to the script.
  static func spelledOut(_ arguments: [String]) -> [String] {
    let isRun = arguments.first == "run"
    var result = arguments, i = 1
    while i < result.count, result[i] != "--" {
      if isRun, !result[i].hasPrefix("-") || result[i] == "-" { break }
      if result[i] == "--log-requests" { result[i] = "--log-requests=\(RequestLogLevel.info.rawValue)" }
      if result[i] == "--check", result.first == "status" { result[i] = "--check=\(OverviewCheck.standard)" }
      splitEmptyValue(&result, at: i)
      i += isRun && valuedBeforeScript.contains(result[i]) ? 2 : 1
    }
    return result
  }

  /// The options of `tureen run` that take the next word.
  private static let valuedBeforeScript: Set<String> = [
    "--home", "--org", "--user", "--memory-limit", "--instruction-limit", "--time-limit", "--allow-host", "--allow-service",
  ]

  private static func splitEmptyValue(_ words: inout [String], at i: Int) {
    let word = words[i]
    guard word.hasPrefix("--"), word.hasSuffix("="), word.dropFirst(2).dropLast().allSatisfy({ $0.isLetter || $0 == "-" }) else {
      return
    }
    words.replaceSubrange(i...i, with: [String(word.dropLast()), ""])
  }
}

/// The home, org and user of a command. Every command that runs a host has these options.
struct HostOptions: ParsableArguments {
  @Option(help: "The folder of stores, sessions and the sandbox org.", completion: .directory, transform: nonEmpty)
  var home: String?

  @Option(
    help: "The org: 'sandbox', a name that tureen orgs lists, or an address. Without it the default of tureen orgs.",
    completion: NameCompletion.org, transform: nonEmpty)
  var org: String?

  @Option(
    help: "The user of the org. Without it the one who signed in last.", completion: NameCompletion.user,
    transform: nonEmpty)
  var user: String?

  @Option(
    defaultAsFlag: RequestLogLevel.info.rawValue,
    help: """
      Log HTTP requests on stderr. LEVEL is off, error, warn, info or debug; info is a line for each request, debug adds headers \
      and bodies. Secrets are masked.
      """)
  var logRequests: String?

  /// - Throws: `ValidationError` if the word is not a level.
  private func logLevel() throws -> RequestLogLevel? {
    guard let word = logRequests else { return nil }
    guard let level = RequestLogSettings.level(word) else {
      throw ValidationError("--log-requests: \(RequestLogSettings.complaint(word))")
    }
    return level
  }

  /// Creates a host, and the sandbox org that the host starts on demand.
  ///
  /// - Parameter configDirectory: The folder with `bootconfig.json` and the like.
  /// - Throws: `ExitCode` `configuration`, after the problem is printed on stderr.
  func prepare(
    configDirectory: String?, _ adjust: (inout HostSettings) -> Void = { _ in }
  ) throws -> (host: Host, sandbox: EmbeddedSandbox) {
    let (host, _, sandbox) = try parts(configDirectory: configDirectory, adjust)
    return (host, sandbox)
  }

  /// Returns the checked settings of hosts, and the sandbox org that they start on demand.
  /// - Parameter looksOnly: Whether the hosts only look into stores.
  /// - Throws: As ``prepare(configDirectory:_:)``.
  func settings(
    configDirectory: String?, looksOnly: Bool = false
  ) throws -> (settings: HostSettings, sandbox: EmbeddedSandbox) {
    let (_, settings, sandbox) = try parts(configDirectory: configDirectory) { $0.looksOnly = looksOnly }
    return (settings, sandbox)
  }

  private func parts(
    configDirectory: String?, _ adjust: (inout HostSettings) -> Void
  ) throws -> (host: Host, settings: HostSettings, sandbox: EmbeddedSandbox) {
    do {
      return try attempt(configDirectory: configDirectory, adjust)
    } catch let error as ValidationError {
      throw error
    } catch {
      complain("\(error)")
      // A home that may not be read is not one that does not exist.
      throw ExitCode(error is FileError ? ExitStatus.callFailed : ExitStatus.configuration)
    }
  }

  /// Does the same as ``prepare(configDirectory:_:)``, but throws what is wrong: ``HostError``, `FileError`.
  func attempt(
    configDirectory: String?, _ adjust: (inout HostSettings) -> Void = { _ in }
  ) throws -> (host: Host, settings: HostSettings, sandbox: EmbeddedSandbox) {
    let level = try logLevel()
    let sandbox = EmbeddedSandbox(home: try HostSettings.resolvedHome(home))
    var settings = sandbox.settings(home: home, org: org, configDirectory: configDirectory)
    settings.accountsByDefault = .home
    settings.user = user
    settings.actor = HistoryActor.ofCommand(Array(CommandLine.arguments.dropFirst()))
    if let level { settings.requestLog = RequestLogSettings(level: level) }
    adjust(&settings)
    let host = Host(settings: settings)
    try host.prepare()
    return (host, settings, sandbox)
  }
}

extension HistoryActor {
  /// Returns the command as the history names it. `tureen run` names its script.
  static func ofCommand(_ words: [String]) -> HistoryActor {
    switch words.first {
    case "exec": HistoryActor(.exec)
    case "repl": HistoryActor(.repl)
    case "import": HistoryActor(.import)
    case "inspect": HistoryActor(.inspector)
    default: HistoryActor(.cli, name: words.first { !$0.hasPrefix("-") })
    }
  }

  /// Returns a script as the history names it.
  static func ofScript(_ path: String) -> HistoryActor {
    HistoryActor(.script, name: path.split(separator: "/").last.map(String.init))
  }
}

/// Refuses an empty value, which an unset variable of a shell script leaves: it would mean the current folder, or nothing.
func nonEmpty(_ value: String) throws -> String {
  guard !value.isEmpty else { throw ValidationError("it is empty; leave the option out for the default") }
  return value
}

/// The home of a command that does not run a host.
/// - Throws: `ExitCode` `configuration`, after the problem is printed on stderr.
func checkedHome(_ given: String?) throws -> String {
  do {
    let home = try HostSettings.resolvedHome(given)
    try HostSettings.checkHome(home)
    return home
  } catch {
    complain("\(error)")
    throw ExitCode(ExitStatus.configuration)
  }
}
