import JSON
import RecordScan

extension ValuePath {
  /// Returns the path's value in a JSON value; nil if there is none, and for a header.
  func value(in json: JSONValue) -> JSONValue? {
    switch origin {
    case .body(let steps): return ValuePath.value(at: steps, in: json)
    case .each(let list, let rest):
      guard let elements = ValuePath.value(at: list, in: json)?.arrayValue else { return nil }
      return .array(elements.compactMap { ValuePath.value(at: rest, in: $0) })
    case .header: return nil
    }
  }

  /// Returns the path's value in a response, including its headers.
  func value(in json: JSONValue, of answer: PageAnswer) -> JSONValue? {
    guard let headerName else { return value(in: json) }
    return answer.header(headerName).map { .string($0) }
  }

  private static func value(at steps: [PathStep], in json: JSONValue) -> JSONValue? {
    var value = json
    for step in steps {
      switch (value, step) {
      case (.object(let object), .member(let key, _)):
        guard let next = object[String(decoding: key, as: UTF8.self)] else { return nil }
        value = next
      case (.array(let list), .member(_, let index?)):
        guard list.indices.contains(index) else { return nil }
        value = list[index]
      case (.array(let list), .firstElement(let key, let text)):
        let name = String(decoding: key, as: UTF8.self), wanted = String(decoding: text, as: UTF8.self)
        guard let next = list.first(where: { $0[name]?.stringValue == wanted }) else { return nil }
        value = next
      default: return nil
      }
    }
    return value
  }

  /// Whether the path leads to an array that is there but lacks the path's last element.
  func isPastTheEndOfAList(in json: JSONValue) -> Bool {
    guard let last = steps?.last, let list = ValuePath.value(at: Array((steps ?? []).dropLast()), in: json)?.arrayValue else {
      return false
    }
    switch last {
    case .member(_, let index?): return !list.indices.contains(index)
    case .firstElement: return ValuePath.value(at: [last], in: .array(list)) == nil
    default: return false
    }
  }

  /// Whether an object has a value at the path.
  func isIn(_ object: JSONObject) -> Bool { value(in: .object(object)) != nil }

  /// The keys of a path that only goes through members.
  var memberNames: [String]? { keys?.map { String(decoding: $0, as: UTF8.self) } }

  /// The first member on the path; nil for the root and for a header.
  var firstMember: String? {
    let steps: [PathStep]
    switch origin {
    case .body(let all): steps = all
    case .each(let list, let rest): steps = list + rest
    case .header: return nil
    }
    guard case .member(let key, _)? = steps.first else { return nil }
    return String(decoding: key, as: UTF8.self)
  }
}

extension JSONValue {
  /// The text of a string or number that serves as an id or tag.
  var idText: String? {
    switch self {
    case .string(let text): text.isEmpty ? nil : text
    case .integer(let number): String(number)
    case .number, .decimal: NumericId.digits(of: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
    default: nil
    }
  }
}
