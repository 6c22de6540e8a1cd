import ArgumentParser
import Tureen

/// The home, org and user of a command about stores.
struct StorePlaceOptions: ParsableArguments {
  @Option(help: "The folder of stores, sessions and the sandbox org.", completion: .directory, transform: nonEmpty)
  var home: String?

  @Option(
    help: "The org of the store: 'sandbox', or a name that tureen orgs lists. Without it the default of tureen orgs.",
    completion: NameCompletion.org, transform: nonEmpty)
  var org: String?

  @Option(
    help: "The user of the store. Without it the one who signed in last.", completion: NameCompletion.user,
    transform: nonEmpty)
  var user: String?

  /// Runs `body` with the stores of the home. An error ends the command with its exit status.
  /// - Parameters:
  ///   - asJSON: Whether to print an error as an object.
  ///   - looksOnly: Whether the stores are only looked at.
  func run(asJSON: Bool = false, looksOnly: Bool = false, _ body: (StoreCatalog) throws -> Int32) throws {
    let status = BridgeCalls.ended(by: asJSON) {
      do {
        return try body(StoreCatalog(home: home, org: org, user: user, looksOnly: looksOnly))
      } catch let problem as StorePlace.Problem {
        throw CommandFailure(problem.description, status: ExitStatus.usage)
      }
    }
    guard status == 0 else { throw ExitCode(status) }
  }
}
