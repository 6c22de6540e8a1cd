import JSON

/// A conflict as a picture: each field before, here and on the server.
struct ConflictPicture {
  private let conflict: JSONValue
  private let fields: [Field]
  private let title: String

  private static let width = 960, columns = [16.0, 210.0, 460.0, 710.0], row = 26.0, longest = 32

  /// A field of a conflict with its values as people read them.
  struct Field {
    let name: String
    let values: [String]
    /// Whether both sides changed it.
    let isOpen: Bool
  }

  /// - Parameters:
  ///   - conflict: An element of the result of `getConflicts`.
  ///   - title: A sentence that says what happened.
  ///   - fields: The fields that differ.
  init(_ conflict: JSONValue, title: String, _ fields: [Field]) {
    (self.conflict, self.title, self.fields) = (conflict, title, fields)
  }

  var text: String {
    var picture = SVGPicture(width: Self.width, title: title)
    let name = "\(conflict["soupName"]?.stringValue ?? "") \(conflict.figure("entryId"))"
    picture.text(name, x: 16, y: 32, class: "head")
    picture.text(SVGPicture.cut(title, 130), x: 16, y: 54, class: "quiet")
    var y = 88.0
    for (x, head) in zip(Self.columns, ["field", "before", "here", "server"]) {
      picture.text(head, x: x, y: y, class: "quiet")
    }
    for field in fields {
      picture.rule(y: y + 9)
      y += Self.row
      picture.text(SVGPicture.cut(field.name, 24), x: Self.columns[0], y: y, class: field.isOpen ? "strong" : "ink")
      for (x, value) in zip(Self.columns.dropFirst(), field.values) {
        picture.text(SVGPicture.cut(value, Self.longest), x: x, y: y, class: field.isOpen ? "strong" : "ink")
      }
    }
    return picture.document(height: y + 22)
  }
}
