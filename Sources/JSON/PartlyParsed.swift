import RecordScan

/// An object with one list left as text: looked at, but not built. For records on their way from a script to a store.
public struct PartlyParsed: Sendable {
  public struct List: Sendable {
    /// Where its text stands, in bytes.
    public let place: Range<Int>
    /// The first element that is no object: its position, counted from 0, and what it is instead.
    public let stranger: (position: Int, kindName: String)?
  }

  /// Everything else; the list is not among the members.
  public private(set) var value: JSONValue
  /// The list; nil when there is none, or the member is no list. Then it is among the others.
  public private(set) var list: List?

  /// Parses an object; the member `key` stays as text when it is a list.
  /// - Throws: ``JSONError`` as for parsing the whole: the list's text is JSON, too.
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
      // Of several members with one key the last one counts.
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
    var position = 0, stranger: (Int, String)?
    if !closes(UInt8(ascii: "]")) {
      repeat {
        let kind = try walker.skipValue(depth: 2).kind
        if kind != .object, stranger == nil { stranger = (position, JSONParser.name(kind)) }
        position += 1
      } while try !ends(UInt8(ascii: "]"))
    }
    return PartlyParsed.List(place: start..<walker.offset, stranger: stranger)
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
