import ArgumentParser
import RestClient
import Tureen

/// The home of a command that works with accounts and does not run a host.
struct AccountOptions: ParsableArguments {
  @Option(help: "The folder of stores, sessions and the sandbox org.", completion: .directory, transform: nonEmpty)
  var home: String?

  /// Runs `body` with the accounts. An error ends the command with its exit status.
  /// - Parameter asJSON: Whether to print an error as an object.
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
