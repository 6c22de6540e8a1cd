import JSON

/// What one action of a ``Plugin`` does: returns the payload of the caller's success callback, or throws.
///
/// Runs in a task of its own, several calls at once and in no order. When the caller cancels the call, or the host closes, the
/// task is cancelled; it may still return a value or throw. A ``BridgeError`` reaches the caller as it is, a
/// `CancellationError` as `bridge` `cancelled`, anything else with the service as its domain and the code `failed`.
public typealias PluginAction = @Sendable (PluginCall) async throws -> JSONValue

/// A service that a program in Swift adds to its host: scripts and C programs call it like one of Tureen's own.
///
/// ```swift
/// struct Printer: Plugin {
///   let service = "com.acme.printer"
///   var actions: [String: PluginAction] { ["print": print] }
///
///   @Sendable func print(_ call: PluginCall) async throws -> JSONValue {
///     call.progress(["page": 1])
///     return ["pages": 1]
///   }
/// }
/// try host.register(Printer())
/// ```
public protocol Plugin: Sendable {
  /// The name that calls use: reverse-DNS, letters, digits and `_` with dots between them.
  var service: String { get }
  /// The actions by name. Read once, at the registration.
  var actions: [String: PluginAction] { get }
  /// What the actions take; nil, the default, checks only that the arguments are an object.
  var spec: PluginSpec? { get }
}

extension Plugin {
  public var spec: PluginSpec? { nil }
}

/// One call of a plug-in's action.
public struct PluginCall: Sendable {
  public let service: String
  public let action: String
  /// All arguments as the caller gave them, checked by the plug-in's spec if it has one.
  public let arguments: JSONObject
  private let onProgress: @Sendable (JSONValue) -> Void

  /// For tests of a plug-in without a host. - Parameter onProgress: Gets what ``progress(_:)`` is given.
  public init(
    service: String, action: String, arguments: JSONObject, onProgress: @escaping @Sendable (JSONValue) -> Void = { _ in }
  ) {
    self.service = service
    self.action = action
    self.arguments = arguments
    self.onProgress = onProgress
  }

  /// Tells the caller how far the call is. Any thread, never blocks. A progress that the caller has not taken yet is replaced by
  /// the next one; after the end of the call it is dropped.
  public func progress(_ value: JSONValue) { onProgress(value) }
}
