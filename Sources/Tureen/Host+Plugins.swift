import JSON
import LuaBridge

/// Services that a program adds to its host, and what it tells scripts by itself.
extension Host {
  /// Adds a plug-in: the scripts of this host call it like one of Tureen's own services. Any thread, before or while a script
  /// runs; calls that were made before it are not repeated.
  ///
  /// Restricted scripts reach it only if ``HostSettings/safeServices`` has its name.
  /// - Throws: `BridgeError` `invalidArguments`: the name is not reverse-DNS, is reserved or taken, or the spec names an action
  ///   that the plug-in lacks.
  public func register(_ plugin: some Plugin) throws {
    try plugins.register(plugin, isSafe: isSafe(plugin.service))
  }

  /// Removes a plug-in. Calls that it has got go on. Any thread.
  /// - Returns: False when there is none of that name.
  @discardableResult
  public func unregister(_ service: String) -> Bool { PluginName.isValid(service) && plugins.unregister(service) }

  /// Tells the listeners of the script, or of the C program, of an event when they next poll: each one, in order. Any thread;
  /// never blocks. Nothing happens before a script is there.
  ///
  /// - Parameters:
  ///   - event: A name as plug-ins have, such as `com.acme.printer.jammed`.
  ///   - detail: What the listeners get.
  /// - Throws: `BridgeError` `invalidArguments` for another name, `mailboxFull` when too much waits to be polled, `closed`.
  public func emit(_ event: String, _ detail: JSONValue = .null) throws {
    try attachedScript?.emit(event, detail)
  }
}
