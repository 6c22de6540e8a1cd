import ArgumentParser
import Tureen

/// Where a command keeps its data and which org it talks to; every command that runs a host has these options.
struct HostOptions: ParsableArguments {
  @Option(help: "Where stores, sessions and the sandbox org live.")
  var home: String?

  @Option(help: "The org: 'sandbox', an address, or a name whose credentials are kept under the home.")
  var org: String?

  /// A host that is ready, and the sandbox org that it starts when it needs one.
  ///
  /// - Parameter configDirectory: The folder with `bootconfig.json` and the like.
  /// - Throws: `ExitCode` `configuration`; what is wrong has been said on stderr.
  func prepare(
    configDirectory: String?, _ adjust: (inout HostSettings) -> Void = { _ in }
  ) throws -> (host: Host, sandbox: EmbeddedSandbox) {
    do {
      let sandbox = EmbeddedSandbox(home: try HostSettings.resolvedHome(home))
      var settings = sandbox.settings(home: home, org: org, configDirectory: configDirectory)
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
