import JSON

/// Answers the reads of one caller.
struct QueryRun {
  let state: ParseState
  let call: ParseCall

  private var reader: ConditionReader { ConditionReader(state: state, caller: call.caller, settings: call.settings) }
  private var renderer: Renderer { Renderer(state: state, call: call) }

  // MARK: Lists

  /// Returns `{"results":[...]}`, with `count` if requested.
  func list(_ className: String, _ options: QueryOptions) throws(ParseError) -> JSONValue {
    let (name, isRedirected) = redirected(className, options)
    let found = try Finder(reader: reader, className: name).matches(options.condition)
    let limit = self.limit(options.limit)
    let sorted = try sorted(found.objects, options, found.condition, name)
    let page = sorted.dropFirst(options.skip).prefix(limit)
    var rendered: [JSONValue] = []
    let inclusion = Inclusion(state: state, call: call, options: options, className: name)
    let hidden = Visibility(state: state, caller: call.caller)
    for object in page {
      var value = renderer.json(object, of: name, hidden: hidden.hidden(in: name, of: object.id))
      value = try inclusion.applied(to: value)
      if isRedirected { value["className"] = .string(name) }
      rendered.append(.object(value))
    }
    var answer: JSONObject = ["results": .array(rendered)]
    if options.counts {
      let counted = try Finder(reader: reader, className: name).objects(options.condition, "count")
      answer["count"] = .integer(Int64(counted.count))
    }
    return .object(answer)
  }

  private func limit(_ asked: Int) -> Int {
    var limit = asked
    if call.settings.maxLimit > 0 { limit = min(limit, call.settings.maxLimit) }
    if let draw = call.fault("loweredLimit") { limit = min(limit, draw.integer("limit") ?? 10) }
    return limit
  }

  private func redirected(_ className: String, _ options: QueryOptions) -> (String, Bool) {
    guard let key = options.redirect, let target = state.type(of: key, in: className)?.targetClass else {
      return (className, false)
    }
    return (target, true)
  }

  // MARK: Order

  private func sorted(
    _ objects: [ParseObject], _ options: QueryOptions, _ condition: Condition, _ className: String
  ) throws(ParseError) -> [ParseObject] {
    for (path, _) in options.order where path.isEmpty || !Names.isColumn(path[0]) {
      throw .badField(path.joined(separator: "."))
    }
    let order = options.order.filter { state.type(of: $0.path[0], in: className) != nil }
    if order.isEmpty {
      if let (path, point) = condition.center { return byDistance(objects, path, point) }
      // The database returns the rows of a join table in no particular order.
      return options.condition["$relatedTo"] == nil ? objects : objects.sorted { Self.hash($0.id) < Self.hash($1.id) }
    }
    if order.allSatisfy({ $0.path == ["updatedAt"] || $0.path == ["objectId"] || $0.path == ["createdAt"] }) {
      return objects.sorted { Self.precedes($0, $1, order.map { ($0.path[0], $0.isDescending) }) }
    }
    let keyed = objects.map { object in (object, order.map { object.value(at: $0.path) }) }
    return keyed.enumerated().sorted { a, b in
      for (index, column) in order.enumerated() {
        let (left, right) = (a.element.1[index], b.element.1[index])
        if Values.comesBefore(left, right) { return !column.isDescending }
        if Values.comesBefore(right, left) { return column.isDescending }
      }
      return a.offset < b.offset
    }.map(\.element.0)
  }

  /// Compares by the server's own columns only, without looking up values.
  private static func precedes(_ a: ParseObject, _ b: ParseObject, _ order: [(column: String, isDescending: Bool)]) -> Bool {
    for (column, isDescending) in order {
      let isLess: Bool
      if column == "objectId" {
        if a.id == b.id { continue }
        isLess = Values.precedes(a.id, b.id)
      } else {
        let (left, right) = column == "updatedAt" ? (a.updatedAt, b.updatedAt) : (a.createdAt, b.createdAt)
        if left == right { continue }
        isLess = left < right
      }
      return isLess != isDescending
    }
    return false
  }

  private func byDistance(_ objects: [ParseObject], _ path: [String], _ point: GeoPoint) -> [ParseObject] {
    func radians(_ object: ParseObject) -> Double { GeoPoint(object.value(at: path)).map { point.radians(to: $0) } ?? .infinity }
    return objects.map { ($0, radians($0)) }.sorted { $0.1 < $1.1 }.map(\.0)
  }

  private static func hash(_ id: String) -> UInt64 {
    id.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  // MARK: One object

  /// - Throws: ``ParseError`` 101 if the object does not exist or may not be read.
  func one(_ className: String, _ id: String, _ options: QueryOptions) throws(ParseError) -> JSONObject {
    guard let object = try Finder(reader: reader, className: className).objects(["objectId": .string(id)], "get").first else {
      throw .notFound
    }
    let hidden = Visibility(state: state, caller: call.caller).hidden(in: className, of: id)
    let value = renderer.json(object, of: className, hidden: hidden)
    return try Inclusion(state: state, call: call, options: options, className: className).applied(to: value)
  }
}

/// Renders objects for clients.
struct Renderer {
  let state: ParseState
  let call: ParseCall

  /// Renders an object without its class name.
  func json(_ object: ParseObject, of className: String, hidden: IdSet = []) -> JSONObject {
    var value: JSONObject = ["objectId": .string(object.id)]
    let isPrivate = className == "_User" && !call.caller.isMaster && object.id != call.caller.userId
    for (name, type) in state.classes[className]?.columns ?? [] where !hidden.contains(name) {
      if case .relation(let target) = type {
        value[name] = ["__type": "Relation", "className": .string(target)]
        continue
      }
      guard let field = object.fields[name] else { continue }
      if case .pointer = type, field.isNull { continue }
      if name == "authData", isPrivate { continue }
      value[name] = expanded(field)
    }
    // A null value alone does not create a column.
    for (name, field) in object.fields where field.isNull && value[name] == nil && !hidden.contains(name) {
      if state.type(of: name, in: className) == nil { value[name] = .null }
    }
    value["createdAt"] = ParseTime.json(object.createdAt)
    value["updatedAt"] = ParseTime.json(object.updatedAt)
    if className != "_Session", let access = object.access { value["ACL"] = access.json }
    return value
  }

  /// Adds URLs to files, for the server's current address.
  func expanded(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object) where object["__type"] == "File":
      let name = object["name"]?.stringValue ?? ""
      return ["__type": "File", "name": .string(name), "url": .string(fileURL(name))]
    case .object(let object): return .object(JSONObject(object.map { ($0.key, expanded($0.value)) }))
    case .array(let items): return .array(items.map(expanded))
    default: return value
    }
  }

  func fileURL(_ name: String) -> String {
    "\(call.base)/files/\(call.applicationId)/\(URLText.escaped(name))"
  }
}
