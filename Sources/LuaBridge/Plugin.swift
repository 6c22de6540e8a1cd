import JSON

/// Runs one action of a ``Plugin`` and returns the payload of the caller's success callback, or throws.
///
/// Each call runs in its own task, so calls run concurrently and in no particular order. If the caller cancels the call or the
/// host closes, the task is cancelled; it may still return a value or throw. The caller gets a ``BridgeError`` unchanged, a
/// `CancellationError` as `cancelled` of the domain `bridge`, and any other error with the service as its domain and the code
/// `failed`.
public typealias PluginAction = @Sendable (PluginCall) async throws -> JSONValue

/// A service that a Swift program adds to its host. Scripts and C programs call it like Tureen's own services.
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
  /// The service's name in reverse-DNS form: parts of letters, digits and `_`, separated by dots.
  var service: String { get }
  /// The actions by name. Read once, when the plug-in is registered.
  var actions: [String: PluginAction] { get }
  /// Describes the actions' arguments. With nil, the default, only objects are accepted, with any members.
  var spec: PluginSpec? { get }
}

extension Plugin {
  public var spec: PluginSpec? { nil }
}

/// One call of a plug-in's action.
public struct PluginCall: Sendable {
  public let service: String
  public let action: String
  /// The caller's arguments, checked against the plug-in's spec if it has one.
  public let arguments: JSONObject
  private let onProgress: @Sendable (JSONValue) -> Void

  /// Creates a call for tests of a plug-in without a host. - Parameter onProgress: Gets the values passed to ``progress(_:)``.
  public init(
    service: String, action: String, arguments: JSONObject, onProgress: @escaping @Sendable (JSONValue) -> Void = { _ in }
  ) {
    self.service = service
    self.action = action
    self.arguments = arguments
    self.onProgress = onProgress
  }

  /// Reports the call's progress to the caller. Callable from any thread; never blocks. A later value replaces one that the
  /// caller has not taken yet; values after the end of the call are dropped.
  public func progress(_ value: JSONValue) { onProgress(value) }
}
