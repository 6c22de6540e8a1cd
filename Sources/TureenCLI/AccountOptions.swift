import ArgumentParser
import RestClient
import Tureen

/// The home of a command that looks at accounts and runs no host.
struct AccountOptions: ParsableArguments {
  @Option(help: "The folder of stores, sessions and the sandbox org.")
  var home: String?

  /// Runs something on the accounts; a failure ends the command with its status.
  /// - Parameter asJSON: Whether an error is written as an object.
  @discardableResult
  func run<Result>(org: String? = nil, asJSON: Bool = false, _ body: (HomeAccounts) throws -> Result) throws -> Result {
    do {
      var settings = HostSettings()
      (settings.home, settings.org) = (home, org)
      return try body(HomeAccounts(settings: settings))
    } catch let exit as ExitCode {
      throw exit
    } catch {
      complain(error, asJSON: asJSON)
      throw ExitCode(ExitStatus.of(error))
    }
  }
}
