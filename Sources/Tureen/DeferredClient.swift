import Dispatch
import RestClient
import Salesforce

/// A client that is created with its first request, so that scripts which only use stores need no org.
actor DeferredClient: RestClient {
  nonisolated let apiVersion: String
  private let make: @Sendable () throws -> any RestClient
  private var client: (any RestClient)?
  private var making: Task<any RestClient, any Error>?
  private var isShutDown = false

  /// - Parameter make: Runs on its own thread and may block. If it throws, the request fails with the error, and the next
  ///   request calls it again.
  init(apiVersion: String, make: @escaping @Sendable () throws -> any RestClient) {
    self.apiVersion = apiVersion
    self.make = make
  }

  func send(_ request: RestRequest) async throws -> RestResponse { try await ready().send(request) }

  /// Returns the client that holds the session, and creates it if needed.
  /// - Throws: The error of its creation.
  func account() async throws -> SalesforceClient {
    guard let client = try await ready() as? SalesforceClient else {
      throw RestError(code: .notAuthenticated, message: "the client has no session", outcome: .notSent)
    }
    return client
  }

  private func ready() async throws -> any RestClient {
    guard !isShutDown else {
      throw RestError(code: .shutDown, message: "the client was shut down", outcome: .notSent)
    }
    if let client { return client }
    let task = making ?? start()
    making = task
    defer { making = nil }
    do {
      let made = try await task.value
      client = made
      return made
    } catch {
      guard error is RestError || error is HostError else {
        throw RestError(code: .notAuthenticated, message: "\(error)", outcome: .notSent)
      }
      throw error
    }
  }

  private func start() -> Task<any RestClient, any Error> {
    let make = make
    return Task {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try make() }) }
      }
    }
  }

  func shutdown() async {
    isShutDown = true
    if let making { client = try? await making.value }
    await client?.shutdown()
    client = nil
  }
}
