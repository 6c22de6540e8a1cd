import JSON
import MobileSync
import SmartStore
import Support

/// A pointer to an object of a class.
public struct ParsePointer: Sendable, Hashable {
  public let className: String
  public let objectId: String

  public init(className: String, objectId: String) {
    self.className = className
    self.objectId = objectId
  }

  public static func == (a: ParsePointer, b: ParsePointer) -> Bool { a.className == b.className && a.objectId == b.objectId }

  public func hash(into hasher: inout Hasher) { hasher.combine(ExactText(objectId)) }

  /// The wire form.
  public var json: JSONValue {
    ["__type": "Pointer", "className": .string(className), "objectId": .string(objectId)]
  }

  /// Whether the object was created locally and has no id from the server yet.
  public var isLocal: Bool { objectId.hasPrefix(SoupField.localIdPrefix) }
}

/// A point on the earth, in degrees. The server does not check the range.
public struct ParsePoint: Sendable, Equatable {
  public let latitude: Double
  public let longitude: Double

  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  /// The wire form.
  public var json: JSONValue { ["__type": "GeoPoint", "latitude": .number(latitude), "longitude": .number(longitude)] }
}

/// A value without a native JSON form: an object with a `__type`.
enum TypedValue: Sendable, Equatable {
  /// Milliseconds since 1970 UTC.
  case date(Int64)
  case pointer(ParsePointer)
  /// A whole object in place of a pointer, as returned by `include`.
  case included(ParsePointer, JSONObject)
  /// The marker of a relation column, which contains no ids.
  case relation(className: String)
  case point(ParsePoint)
  /// The corners; the server closes the ring.
  case polygon([ParsePoint])
  /// The server recomputes the URL with each read.
  case file(name: String, url: String?)
  case bytes([UInt8])

  /// Reads a typed value.
  ///
  /// - Returns: nil for a value without a `__type`, which is plain JSON.
  /// - Throws: ``ParseProblem`` for an unknown type, and for one that lacks a part. The server
  ///   rejects both with 111.
  static func read(_ json: JSONValue) throws(ParseProblem) -> TypedValue? {
    guard let object = json.objectValue, let mark = object["__type"] else { return nil }
    guard let type = mark.stringValue, let kind = Kind(rawValue: type) else {
      throw ParseProblem(
        description: "__type \(mark.text) is not known; known: \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    guard let value = kind.value(object) else {
      throw ParseProblem(description: "a value of __type \(type) needs \(kind.needs)")
    }
    return value
  }

  /// The wire form.
  var json: JSONValue {
    switch self {
    case .date(let milliseconds): ["__type": "Date", "iso": .string(TimeStamp.isoText(milliseconds))]
    case .pointer(let pointer): pointer.json
    case .included(let pointer, let fields):
      .object(
        JSONObject(
          [("__type", "Object"), ("className", .string(pointer.className)), ("objectId", .string(pointer.objectId))]
            + fields.map { ($0.key, $0.value) }))
    case .relation(let className): ["__type": "Relation", "className": .string(className)]
    case .point(let point): point.json
    case .polygon(let corners):
      ["__type": "Polygon", "coordinates": .array(corners.map { [.number($0.latitude), .number($0.longitude)] })]
    case .file(let name, let url):
      .object(
        JSONObject([("__type", "File"), ("name", .string(name))] + (url.map { [("url", .string($0))] } ?? [])))
    case .bytes(let bytes): ["__type": "Bytes", "base64": .string(Base64.text(bytes))]
    }
  }
}

extension TypedValue {
  fileprivate enum Kind: String, CaseIterable {
    case date = "Date", pointer = "Pointer", included = "Object", relation = "Relation", point = "GeoPoint"
    case polygon = "Polygon", file = "File", bytes = "Bytes"

    /// The required members of a value of this kind, for messages.
    var needs: String {
      switch self {
      case .date: "'iso', a date such as 2024-05-01T10:20:30.123Z"
      case .pointer, .included: "'className' and 'objectId', both texts"
      case .relation: "'className', a text"
      case .point: "'latitude' and 'longitude', both numbers"
      case .polygon: "'coordinates', at least three different pairs of numbers"
      case .file: "'name', a text"
      case .bytes: "'base64', which is not empty"
      }
    }

    func value(_ object: JSONObject) -> TypedValue? {
      switch self {
      case .date: object["iso"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }.map { .date($0) }
      case .pointer: TypedValue.pointer(object).map { .pointer($0) }
      case .included: TypedValue.included(object)
      case .relation: object["className"]?.stringValue.map { .relation(className: $0) }
      case .point: TypedValue.point(object["latitude"], object["longitude"]).map { .point($0) }
      case .polygon: TypedValue.polygon(object["coordinates"])
      case .file: object["name"]?.stringValue.map { .file(name: $0, url: object["url"]?.stringValue) }
      case .bytes:
        object["base64"]?.stringValue.flatMap { Base64.decode($0) }.flatMap { $0.isEmpty ? nil : .bytes($0) }
      }
    }
  }

  fileprivate static func pointer(_ object: JSONObject) -> ParsePointer? {
    guard let className = object["className"]?.stringValue, let id = object["objectId"]?.stringValue, !id.isEmpty else {
      return nil
    }
    return ParsePointer(className: className, objectId: id)
  }

  fileprivate static func included(_ object: JSONObject) -> TypedValue? {
    guard let pointer = pointer(object) else { return nil }
    var fields = object
    for key in ["__type", "className", "objectId"] { fields[key] = nil }
    return .included(pointer, fields)
  }

  fileprivate static func point(_ latitude: JSONValue?, _ longitude: JSONValue?) -> ParsePoint? {
    guard let latitude = latitude?.doubleValue, let longitude = longitude?.doubleValue else { return nil }
    return ParsePoint(latitude: latitude, longitude: longitude)
  }

  fileprivate static func polygon(_ json: JSONValue?) -> TypedValue? {
    guard let pairs = json?.arrayValue else { return nil }
    var corners: [ParsePoint] = []
    for pair in pairs {
      guard let numbers = pair.arrayValue, numbers.count == 2, let corner = point(numbers[0], numbers[1]) else { return nil }
      corners.append(corner)
    }
    let different = corners.indices.filter { !corners[..<$0].contains(corners[$0]) }
    return different.count >= 3 ? .polygon(corners) : nil
  }
}
