/// The objects of an org.
struct OrgSchema: Sendable {
  let objects: [ObjectSchema]
  private let byName: [String: Int]
  private let byPrefix: [String: Int]
  /// Positions of the reference fields that point at an object, by its name.
  private let references: [String: [(object: Int, field: Int)]]

  /// - Parameter objects: With different names and prefixes; of two with one name the later counts.
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

  /// Names are not case-sensitive.
  func object(_ name: some StringProtocol) -> ObjectSchema? { byName[name.lowercased()].map { objects[$0] } }
  func object(ofId id: String) -> ObjectSchema? { byPrefix[RecordID.prefix(of: id)].map { objects[$0] } }

  /// The reference fields that point at an object, with the objects that have them.
  func references(to name: String) -> [(child: ObjectSchema, field: FieldSchema)] {
    (references[name] ?? []).map { (objects[$0.object], objects[$0.object].fields[$0.field]) }
  }

  /// The reference by which a parent knows its rows under this name, such as `Contacts` of an account.
  func child(_ relationship: some StringProtocol, of object: ObjectSchema) -> (child: ObjectSchema, field: FieldSchema)? {
    let wanted = relationship.lowercased()
    return references(to: object.name).first { $0.field.childRelationshipName?.lowercased() == wanted }
  }
}
