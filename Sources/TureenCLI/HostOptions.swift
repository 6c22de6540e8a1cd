import ArgumentParser
import RestClient
import Tureen

extension HostOptions {
  /// Gives a bare `--log-requests` its level: the parser would take the word behind it, such as the script, for one.
  ///
  /// - Parameter arguments: Of the command line, its own name apart. What follows the script is the script's.
  static func spelledOut(_ arguments: [String]) -> [String] {
    let valued: Set<String> = ["--home", "--org", "--user", "--config", "--memory-limit", "--instruction-limit", "--time-limit"]
    var result = arguments, i = 1
    while i < result.count, result[i].hasPrefix("-"), result[i] != "--", result[i] != "-" {
      if result[i] == "--log-requests" { result[i] = "--log-requests=\(RequestLogLevel.info.rawValue)" }
      i += valued.contains(result[i]) ? 2 : 1
    }
    return result
  }
}

/// Where a command keeps its data and which org it talks to; every command that runs a host has these options.
struct HostOptions: ParsableArguments {
  @Option(help: "The folder of stores, sessions and the sandbox org.")
  var home: String?

  @Option(help: "The org: 'sandbox', a name that tureen orgs lists, or an address. Without it the default of tureen orgs.")
  var org: String?

  @Option(help: "The user of the org. Without it the one who signed in last.")
  var user: String?

  @Option(
    defaultAsFlag: RequestLogLevel.info.rawValue,
    help: """
      Log HTTP requests on stderr. LEVEL is off, error, warn, info or debug; info is a line for each request, debug adds headers \
      and bodies. Secrets are masked.
      """)
  var logRequests: String?

  /// - Throws: `ValidationError` for a word that is not a level.
  private func logLevel() throws -> RequestLogLevel? {
    guard let word = logRequests else { return nil }
    guard let level = RequestLogSettings.level(word) else {
      throw ValidationError("--log-requests: \(RequestLogSettings.complaint(word))")
    }
    return level
  }

  /// A host that is ready, and the sandbox org that it starts when it needs one.
  ///
  /// - Parameter configDirectory: The folder with `bootconfig.json` and the like.
  /// - Throws: `ExitCode` `configuration`; what is wrong has been said on stderr.
  func prepare(
    configDirectory: String?, _ adjust: (inout HostSettings) -> Void = { _ in }
  ) throws -> (host: Host, sandbox: EmbeddedSandbox) {
    let level = try logLevel()
    do {
      let sandbox = EmbeddedSandbox(home: try HostSettings.resolvedHome(home))
      var settings = sandbox.settings(home: home, org: org, configDirectory: configDirectory)
      settings.accountsByDefault = .home
      settings.user = user
      if let level { settings.requestLog = RequestLogSettings(level: level) }
      adjust(&settings)
      let host = Host(settings: settings)
      try host.prepare()
      return (host, sandbox)
    } catch {
      complain("\(error)")
      throw ExitCode(ExitStatus.configuration)
    }
  }
}

/// The home of a command that runs no host.
/// - Throws: `ExitCode` `configuration`; what is wrong has been said on stderr.
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
