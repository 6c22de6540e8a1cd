import JSON

/// Variants with a completion handler instead of `await`. The handler is called once, on any
/// thread.
extension ParseClient {
  public typealias Handler<Value: Sendable> = @Sendable (Result<Value, any Error>) -> Void

  /// Runs any operation of the client.
  ///
  /// - Returns: The task, which can be cancelled.
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

  // MARK: Reading

  @discardableResult
  public func find(_ query: ParseQuery, completion: @escaping Handler<[ParseObject]>) -> Task<Void, Never> {
    run({ try await $0.find(query) }, completion: completion)
  }

  @discardableResult
  public func findAll(_ query: ParseQuery, completion: @escaping Handler<[ParseObject]>) -> Task<Void, Never> {
    run({ try await $0.findAll(query) }, completion: completion)
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
  public func fetch(
    _ className: String, _ objectId: String, include: [String] = [], completion: @escaping Handler<ParseObject>
  ) -> Task<Void, Never> {
    run({ try await $0.fetch(className, objectId, include: include) }, completion: completion)
  }

  @discardableResult
  public func related(
    _ className: String, to owner: ParsePointer, by field: String, completion: @escaping Handler<[ParseObject]>
  ) -> Task<Void, Never> {
    run({ try await $0.related(className, to: owner, by: field) }, completion: completion)
  }

  // MARK: Writing

  @discardableResult
  public func save(_ object: ParseObject, completion: @escaping Handler<ParseObject>) -> Task<Void, Never> {
    run({ try await $0.save(object) }, completion: completion)
  }

  /// - Parameter completion: Receives one result for each object, in order.
  @discardableResult
  public func save(
    _ objects: [ParseObject], clientKeyField: String? = nil,
    completion: @escaping @Sendable ([Result<ParseObject, ParseSaveError>]) -> Void
  ) -> Task<Void, Never> {
    Task { completion(await save(objects, clientKeyField: clientKeyField)) }
  }

  @discardableResult
  public func delete(_ className: String, _ objectId: String, completion: @escaping Handler<Void>) -> Task<Void, Never> {
    run({ try await $0.delete(className, objectId) }, completion: completion)
  }

  // MARK: Users

  @discardableResult
  public func signUp(_ fields: JSONObject, completion: @escaping Handler<ParseObject>) -> Task<Void, Never> {
    run({ try await $0.signUp(fields) }, completion: completion)
  }

  @discardableResult
  public func logIn(_ username: String, _ password: String, completion: @escaping Handler<ParseObject>) -> Task<Void, Never> {
    run({ try await $0.logIn(username, password) }, completion: completion)
  }

  @discardableResult
  public func logOut(completion: @escaping Handler<Void>) -> Task<Void, Never> {
    run({ try await $0.logOut() }, completion: completion)
  }

  @discardableResult
  public func currentUser(completion: @escaping Handler<ParseObject?>) -> Task<Void, Never> {
    run({ try await $0.currentUser() }, completion: completion)
  }
}
