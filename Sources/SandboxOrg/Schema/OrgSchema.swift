/// The objects of an org.
struct OrgSchema: Sendable {
  let objects: [ObjectSchema]
  private let byName: [String: Int]
  private let byPrefix: [String: Int]
  /// The positions of the reference fields that point to an object, by its name.
  private let references: [String: [(object: Int, field: Int)]]

  /// - Parameter objects: Objects with different names and prefixes; of duplicates the last one is
  ///   used.
  init(objects: [ObjectSchema]) {
    self.objects = objects
    byName = Dictionary(objects.enumerated().map { ($1.name.lowercased(), $0) }) { $1 }
    byPrefix = Dictionary(objects.enumerated().map { ($1.keyPrefix, $0) }) { $1 }
    var references: [String: [(object: Int, field: Int)]] = [:]
    for (index, object) in objects.enumerated() {
      for (place, field) in object.fields.enumerated() where field.type == .reference {
        for target in Set(field.referenceTo) { references[target, default: []].append((index, place)) }
      }
    }
    self.references = references
  }

  /// Finds an object by name; case is ignored.
  func object(_ name: some StringProtocol) -> ObjectSchema? { byName[name.lowercased()].map { objects[$0] } }
  func object(ofId id: String) -> ObjectSchema? { byPrefix[RecordID.prefix(of: id)].map { objects[$0] } }

  /// Returns the reference fields that point to an object, with their objects.
  func references(to name: String) -> [(child: ObjectSchema, field: FieldSchema)] {
    (references[name] ?? []).map { (objects[$0.object], objects[$0.object].fields[$0.field]) }
  }

  /// Returns the reference behind a child relationship, such as `Contacts` of an account.
  func child(_ relationship: some StringProtocol, of object: ObjectSchema) -> (child: ObjectSchema, field: FieldSchema)? {
    let wanted = relationship.lowercased()
    return references(to: object.name).first { $0.field.childRelationshipName?.lowercased() == wanted }
  }
}
