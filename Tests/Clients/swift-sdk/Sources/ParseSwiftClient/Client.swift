import Foundation
import ParseSwift

/// Drives a Parse server with ParseSwift and tells which checks held.
@main enum Client {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 5, let url = URL(string: arguments[1]) else {
      print("usage: ParseSwiftClient SERVER-URL APPLICATION-ID CLIENT-KEY MASTER-KEY [WORD]")
      exit(64)
    }
    try await ParseSwift.initialize(
      applicationId: arguments[2], clientKey: arguments[3], primaryKey: arguments[4], serverURL: url,
      requestCachePolicy: .reloadIgnoringLocalCacheData, maxConnectionAttempts: 1)
    var checks = Checks(only: arguments.count > 5 ? arguments[5] : nil)
    await checkObjects(&checks)
    await checkQueries(&checks)
    await checkAccounts(&checks)
    print("\(checks.count - checks.failures) passed, \(checks.failures) failed")
    exit(checks.failures == 0 && checks.count > 0 ? 0 : 1)
  }
}
