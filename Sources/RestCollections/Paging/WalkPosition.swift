import JSON
import RestClient

/// The page of a list to request.
enum WalkPosition: Sendable, Equatable {
  case first
  /// A validated URL from the server.
  case url(String, isForeign: Bool)
  /// A token from the server, for the parameter of the paging style.
  case token(ParameterValue)
  case page(Int)
  case offset(Int)

  /// Identifies the page for the loop guard.
  var address: String {
    switch self {
    case .first: "first"
    case .url(let url, _): url
    case .token(let value): "token:" + value.text
    case .page(let number): "page:\(number)"
    case .offset(let offset): "offset:\(offset)"
    }
  }

  var json: JSONObject {
    switch self {
    case .first: [:]
    case .url(let url, let isForeign): ["url": .string(url), "foreign": .bool(isForeign)]
    case .token(let value): ["token": .string(value.text), "number": .bool(value.isNumber)]
    case .page(let number): ["page": .integer(Int64(number))]
    case .offset(let offset): ["offset": .integer(Int64(offset))]
    }
  }

  init(_ json: JSONObject) {
    if let url = json["url"]?.stringValue {
      self = .url(url, isForeign: json["foreign"]?.boolValue ?? false)
    } else if let token = json["token"]?.stringValue {
      self = .token(ParameterValue(token, isNumber: json["number"]?.boolValue ?? false))
    } else if let number = json["page"]?.boundedInteger {
      self = .page(Int(clamping: number))
    } else if let offset = json["offset"]?.boundedInteger {
      self = .offset(Int(clamping: offset))
    } else {
      self = .first
    }
  }
}

extension PagingRules {
  /// Returns the position that an earlier request's URL stands for; nil if the URL does not show
  /// it.
  func position(ofURL url: String, base: String) -> WalkPosition? {
    func value(_ name: String?) -> String? { name.flatMap { URLQuery.value(of: $0, in: url) } }
    switch style {
    case .none: return nil
    case .page: return value(pageParam).flatMap { Int($0)?.bounded }.map { .page($0) }
    case .offset: return value(offsetParam).flatMap { Int($0)?.bounded }.map { .offset($0) }
    case .cursor: return value(cursorParam).map { .token(ParameterValue($0)) }
    case .keyset: return value(afterParam).map { .token(ParameterValue($0)) }
    case .header where pageParam != nil: return value(pageParam).map { .token(ParameterValue($0)) }
    case .link, .bodyUrl, .header: return .url(url, isForeign: WebAddress(url) != WebAddress(base))
    }
  }

  /// Makes the request for a page.
  ///
  /// - Parameter first: The first request, as made by the target and the incremental mode.
  func request(_ position: WalkPosition, first: PageRequest) -> PageRequest {
    if case .url(let url, let isForeign) = position {
      return PageRequest(method: first.method, url: url, body: first.body, isForeign: isForeign)
    }
    var request = first
    if let size { request = request.setting(size.name, to: ParameterValue(size.value), in: place) }
    guard let parameter = parameter(position) else { return request }
    return request.setting(parameter.name, to: parameter.value, in: place)
  }

  private func parameter(_ position: WalkPosition) -> (name: String, value: ParameterValue)? {
    switch (style, position) {
    case (.page, .first): pageParam.map { ($0, ParameterValue(firstPage)) }
    case (.page, .page(let number)): pageParam.map { ($0, ParameterValue(number)) }
    case (.offset, .first): offsetParam.map { ($0, ParameterValue(0)) }
    case (.offset, .offset(let offset)): offsetParam.map { ($0, ParameterValue(offset)) }
    case (.cursor, .token(let value)): cursorParam.map { ($0, value) }
    case (.keyset, .token(let value)): afterParam.map { ($0, value) }
    case (.header, .token(let value)): pageParam.map { ($0, value) }
    default: nil
    }
  }
}
