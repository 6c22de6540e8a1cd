import Foundation
import ParseSwift

/// Counts what held and what did not; a check that throws has failed, and the next one runs.
struct Checks {
  private(set) var failures = 0
  private(set) var count = 0
  private let only: String?

  init(only: String?) { self.only = only }

  struct Failure: Error, CustomStringConvertible { let description: String }

  mutating func check(_ name: String, _ body: () async throws -> Void) async {
    if let only, !name.contains(only) { return }
    count += 1
    do {
      try await body()
      print("ok \(name)")
    } catch {
      failures += 1
      print("not ok \(name): \(error)")
    }
  }
}

func expect<T: Equatable>(_ value: T, _ wanted: T, _ what: String, line: Int = #line) throws {
  guard value == wanted else { throw Checks.Failure(description: "\(what), line \(line): got \(value), expected \(wanted)") }
}

/// - Returns: The error, which must be the server's with this code.
@discardableResult
func refusal<T>(_ code: ParseError.Code, line: Int = #line, _ body: () async throws -> T) async throws -> ParseError {
  do {
    _ = try await body()
  } catch let error as ParseError {
    guard error.code == code else { throw Checks.Failure(description: "line \(line): got \(error), expected \(code)") }
    return error
  }
  throw Checks.Failure(description: "line \(line): no error, expected \(code)")
}

extension Array {
  /// What every save of a list brought; the first failure is thrown.
  func values<T>() throws -> [T] where Element == Result<T, ParseError> { try map { try $0.get() } }
}
