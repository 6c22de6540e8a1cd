import JSON
import LuaBridge

/// Lets a program add services to its host and emit events.
extension Host {
  /// Adds a plug-in, which the scripts of this host call like Tureen's own services. Callable from any thread, before or while a
  /// script runs. Calls that failed before are not repeated.
  ///
  /// Restricted scripts can call it only if ``HostSettings/allowedServices`` contains its name.
  /// - Throws: `BridgeError` `invalidArguments` if the name is not reverse-DNS, is reserved or is taken, or if the spec names an
  ///   action that the plug-in does not have.
  public func register(_ plugin: some Plugin) throws {
    try plugins.register(plugin)
  }

  /// Removes a plug-in. Calls that it has received continue. Callable from any thread.
  /// - Returns: False if there is no plug-in of that name.
  @discardableResult
  public func unregister(_ service: String) -> Bool { PluginName.isValid(service) && plugins.unregister(service) }

  /// Emits an event to the listeners of the script or the C program, which get it at their next poll. All events are delivered,
  /// in order. Callable from any thread; never blocks. Has no effect as long as there is no script.
  ///
  /// - Parameters:
  ///   - event: A name in the form of plug-in names, such as `com.acme.printer.jammed`.
  ///   - detail: The value for the listeners.
  /// - Throws: `BridgeError` `invalidArguments` for another name, `mailboxFull` if too many events wait to be polled, `closed`.
  public func emit(_ event: String, _ detail: JSONValue = .null) throws {
    try attachedScript?.emit(event, detail)
  }
}
