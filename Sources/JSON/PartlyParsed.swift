import RecordScan

/// An object with one list left as text: validated, but not parsed. For records on their way from a
/// script to a store.
public struct PartlyParsed: Sendable {
  public struct List: Sendable {
    /// The byte range of the list's text.
    public let range: Range<Int>
    /// The first element that is not an object: its position, counted from 0, and its kind.
    public let firstNonObject: (position: Int, kindName: String)?
  }

  /// The object without the list.
  public private(set) var value: JSONValue
  /// The list; nil if the member is missing or not a list. In the latter case it is a member of
  /// ``value``.
  public private(set) var list: List?

  /// Parses an object; the member `key` stays text if it is a list.
  /// - Throws: ``JSONError`` if the text, including that of the list, is not valid JSON.
  public init(parsing bytes: [UInt8], leaving key: String) throws(JSONError) {
    let wanted = Array(key.utf8)
    let result = bytes.withUnsafeBytes { raw -> Result<(JSONValue, List?), ScanError> in
      Result { () throws(ScanError) in
        var parser = JSONParser(walker: JSONWalker(raw))
        var list: List?
        let value = try parser.object(leaving: wanted, to: &list)
        try parser.walker.expectEnd()
        return (value, list)
      }
    }
    switch result {
    case .success(let (value, list)):
      self.value = value
      self.list = list
    case .failure(let error): throw JSONError(offset: error.offset, message: error.message)
    }
  }
}

extension JSONParser {
  fileprivate mutating func object(leaving wanted: [UInt8], to list: inout PartlyParsed.List?) throws(ScanError) -> JSONValue {
    walker.skipWhitespace()
    guard walker.p < walker.end, walker.p.pointee == UInt8(ascii: "{") else { return try value(depth: 0) }
    walker.p += 1
    var members = JSONObject()
    if closes(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      walker.skipWhitespace()
      let key = try walker.key(), name = String(decoding: key.meaning, as: UTF8.self)
      walker.skipWhitespace()
      // If a key occurs more than once, the last member counts.
      if key == wanted {
        list = nil
        members[name] = nil
      }
      if key == wanted, walker.p < walker.end, walker.p.pointee == UInt8(ascii: "[") {
        list = try self.list()
      } else {
        members[name] = try value(depth: 1)
      }
    } while try !ends(UInt8(ascii: "}"))
    return .object(members)
  }

  private mutating func list() throws(ScanError) -> PartlyParsed.List {
    let start = walker.offset
    walker.p += 1
    var position = 0, firstNonObject: (Int, String)?
    if !closes(UInt8(ascii: "]")) {
      repeat {
        let kind = try walker.skipValue(depth: 2).kind
        if kind != .object, firstNonObject == nil { firstNonObject = (position, JSONParser.name(kind)) }
        position += 1
      } while try !ends(UInt8(ascii: "]"))
    }
    return PartlyParsed.List(range: start..<walker.offset, firstNonObject: firstNonObject)
  }

  private static func name(_ kind: ValueKind) -> String {
    switch kind {
    case .plainString, .escapedString: "string"
    case .number: "number"
    case .true, .false: "boolean"
    case .array, .arrayStep: "array"
    case .object: "object"
    case .null, .missing: "null"
    }
  }
}
