import JSON

/// The contents of `userstore.json` and `globalstore.json`: soups that a store has from the start.
public struct StoreConfiguration: Sendable {
  public struct SoupDefinition: Sendable {
    public let name: String
    public let indexSpecs: [IndexSpec]
  }

  public let soups: [SoupDefinition]

  /// - Parameter file: For messages.
  /// - Throws: ``StoreError`` `.invalidConfiguration`, naming the file, the soup and the key.
  public init(_ json: JSONValue, file: String) throws(StoreError) {
    guard let top = json.objectValue else { throw StoreConfiguration.invalid(file, "must hold an object") }
    for key in top.keys where key != "soups" {
      throw StoreConfiguration.invalid(file, "unknown key '\(key)'; known: soups")
    }
    guard let entries = top["soups"]?.arrayValue else { throw StoreConfiguration.invalid(file, "'soups' must be an array") }
    var soups: [SoupDefinition] = []
    for (i, entry) in entries.enumerated() { soups.append(try StoreConfiguration.soup(entry, i + 1, file)) }
    self.soups = soups
  }

  private static func soup(_ entry: JSONValue, _ number: Int, _ file: String) throws(StoreError) -> SoupDefinition {
    guard let members = entry.objectValue, let name = members["soupName"]?.stringValue else {
      throw invalid(file, "soup \(number): 'soupName' must be a string")
    }
    for key in members.keys where key != "soupName" && key != "indexes" {
      throw invalid(file, "soup \(number) (\(name)): unknown key '\(key)'; known: soupName, indexes")
    }
    do {
      let specs = try IndexSpec.list(members["indexes"] ?? .null)
      try IndexSpec.validate(specs, soup: name)
      return SoupDefinition(name: name, indexSpecs: specs)
    } catch {
      throw invalid(file, "soup \(number) (\(name)): 'indexes': \(error.message)")
    }
  }

  private static func invalid(_ file: String, _ what: String) -> StoreError {
    StoreError(.invalidConfiguration, "\(file): \(what)")
  }

  /// Registers the soups that the store does not have yet; those it has stay as they are.
  public func apply(to store: Store) throws {
    for soup in soups { try store.registerSoup(soup.name, indexSpecs: soup.indexSpecs) }
  }
}
