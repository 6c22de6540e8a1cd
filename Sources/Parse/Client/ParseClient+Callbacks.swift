/// The same with a handler in place of `await`. It is called once, on any thread.
extension ParseClient {
  public typealias Handler<Value: Sendable> = @Sendable (Result<Value, any Error>) -> Void

  /// Runs any of the client's operations.
  /// - Returns: To cancel it by.
  @discardableResult
  public func run<Value: Sendable>(
    _ work: @escaping @Sendable (ParseClient) async throws -> Value, completion: @escaping Handler<Value>
  ) -> Task<Void, Never> {
    Task {
      do {
        completion(.success(try await work(self)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  @discardableResult
  public func find(_ query: ParseQuery, completion: @escaping Handler<[ParseObject]>) -> Task<Void, Never> {
    run({ try await $0.find(query) }, completion: completion)
  }

  @discardableResult
  public func first(_ query: ParseQuery, completion: @escaping Handler<ParseObject?>) -> Task<Void, Never> {
    run({ try await $0.first(query) }, completion: completion)
  }

  @discardableResult
  public func count(_ query: ParseQuery, completion: @escaping Handler<Int>) -> Task<Void, Never> {
    run({ try await $0.count(query) }, completion: completion)
  }

  @discardableResult
  public func save(_ object: ParseObject, completion: @escaping Handler<ParseObject>) -> Task<Void, Never> {
    run({ try await $0.save(object) }, completion: completion)
  }
}
