import JSON
import SandboxServer

/// All data of a server.
struct ParseState: Sendable {
  struct File: Sendable {
    let type: String
    let bytes: [UInt8]
  }

  private(set) var classes: [String: ParseClass] = [:]
  var relations = Relations()
  /// Passwords by user id. Kept in memory only and never sent.
  var passwords: [String: String] = [:]
  /// Session ids by token.
  var sessions: [String: String] = [:]
  var files: [String: File] = [:]
  var parameters = JSONObject(), hiddenParameters: JSONObject?
  /// The ids of idempotent requests, with the second of their arrival.
  var requestIds: [String: Int64] = [:]
  /// The newest timestamp, in milliseconds since 1970 UTC.
  private var newest: Int64 = 0
  private var random: SeedRandom

  /// Creates the built-in classes only.
  ///
  /// - Parameter seed: The seed of the ids of new objects.
  init(seed: UInt64 = 0xB00C) {
    random = SeedRandom(seed)
    for name in Names.systemClasses { classes[name] = ParseClass(name) }
  }

  // MARK: Classes

  func type(of column: String, in className: String) -> ColumnType? { classes[className]?.type(of: column) }
  func object(_ className: String, _ id: String) -> ParseObject? { classes[className]?[id] }

  /// Creates the class if it does not exist.
  mutating func add(_ className: String) {
    if classes[className] == nil { classes[className] = ParseClass(className) }
  }

  mutating func add(_ column: String, _ type: ColumnType, to className: String) {
    classes[className, default: ParseClass(className)].add(column, type)
  }

  mutating func put(_ object: ParseObject, in className: String) { classes[className]?.put(object) }

  @discardableResult
  mutating func remove(_ className: String, _ id: String) -> Bool {
    guard classes[className]?.remove(id) == true else { return false }
    if className == "_User" { passwords[id] = nil }
    if className == "_Session" { for (token, session) in sessions where session == id { sessions[token] = nil } }
    return true
  }

  mutating func removeAll(of className: String) {
    for object in classes[className]?.objects ?? [] { remove(className, object.id) }
    classes[className]?.removeAll()
  }

  mutating func set(_ permissions: ClassPermissions, of className: String) { classes[className]?.permissions = permissions }

  mutating func set(_ indexes: JSONObject, of className: String) { classes[className]?.indexes = indexes }

  mutating func set(_ rule: ColumnRule, of column: String, in className: String) { classes[className]?.set(rule, of: column) }

  mutating func drop(_ column: String, of className: String) {
    classes[className]?.drop(column)
    relations.drop(.init(className: className, name: column))
  }

  mutating func drop(_ className: String) {
    classes[className] = nil
    relations.drop(className: className)
  }

  // MARK: Ids and stamps

  mutating func newId() -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<Tuning.idCharacters).map { _ in random.pick(alphabet) })
  }

  mutating func newHex(_ digits: Int) -> String {
    String((0..<digits).map { _ in random.pick(Array("0123456789abcdef")) })
  }

  /// Returns the timestamp of a write. Each is later than all before it, so that no two are equal
  /// by default.
  ///
  /// - Parameter time: Milliseconds since 1970 UTC.
  mutating func stamp(at time: Int64) -> Int64 {
    newest = max(time, newest + 1)
    return newest
  }
}
