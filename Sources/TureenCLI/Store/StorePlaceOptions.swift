import ArgumentParser
import JSON
import Tureen

/// The home, org and user of a command about stores.
struct StorePlaceOptions: ParsableArguments {
  @Option(help: "The folder of stores, sessions and the sandbox org.", completion: .directory)
  var home: String?

  @Option(
    help: "The org of the store: 'sandbox', or a name that tureen orgs lists. Without it the default of tureen orgs.",
    completion: NameCompletion.org)
  var org: String?

  @Option(help: "The user of the store. Without it the one who signed in last.", completion: NameCompletion.user)
  var user: String?

  /// Runs `body` with the stores of the home. An error ends the command with its exit status.
  /// - Parameter asJSON: Whether to print an error as an object.
  func run(asJSON: Bool = false, _ body: (StoreCatalog) throws -> Int32) throws {
    let status: Int32
    do {
      status = try body(try StoreCatalog(home: home, org: org, user: user))
    } catch let exit as ExitCode {
      throw exit
    } catch let problem as StorePlace.Problem {
      let failure = CommandFailure(problem.description, status: ExitStatus.usage)
      if asJSON { write(JSONValue.object(failure.json).text + "\n", to: 2) } else { complain(failure.message) }
      status = failure.status
    } catch ByteOutput.Failure.noReader {
      status = 0
    } catch ByteOutput.Failure.failed(let message) {
      complain(message)
      status = ExitStatus.unavailable
    } catch {
      complain(error, asJSON: asJSON)
      status = ExitStatus.of(error)
    }
    guard status == 0 else { throw ExitCode(status) }
  }
}
