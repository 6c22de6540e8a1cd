import JSON
import MobileSync
import RestClient

/// Moves included objects of a page to their own soups, and leaves a Pointer in their place.
struct SplitIncludes: Sendable {
  let target: ParseSyncDownTarget
  let exchange: ParseExchange

  /// - Returns: The included objects by soup, without duplicates.
  func split(_ objects: inout [JSONObject]) async throws -> IdMap<[JSONObject]> {
    var included: IdMap<[JSONObject]> = [:], seen = Set<ParsePointer>(), lacking: [(row: Int, field: String)] = []
    for row in objects.indices {
      for rule in target.rules.include {
        guard let value = objects[row][rule.field] else {
          lacking.append((row, rule.field))
          continue
        }
        guard case .included(let pointer, let fields)? = try? TypedValue.read(value), let soup = rule.soup else { continue }
        objects[row][rule.field] = pointer.json
        guard seen.insert(pointer).inserted else { continue }
        var object: JSONObject = ["objectId": .string(pointer.objectId)]
        for (key, member) in fields where !PageEditor.isRelationMarker(member) && key != "sessionToken" {
          object[key] = Self.collapsed(member)
        }
        included[soup, default: []].append(object)
      }
    }
    try await addDangling(lacking, to: &objects)
    return included
  }

  /// Replaces an object included at a deeper level by a Pointer.
  private static func collapsed(_ value: JSONValue) -> JSONValue {
    if case .included(let pointer, _)? = try? TypedValue.read(value) { return pointer.json }
    return value
  }

  /// Restores pointers whose object is gone or hidden. The server omits these with `include`, but
  /// sends them without it.
  private func addDangling(_ lacking: [(row: Int, field: String)], to objects: inout [JSONObject]) async throws {
    guard !lacking.isEmpty else { return }
    let ids = IdSet(lacking.compactMap { objects[$0.row]["objectId"]?.stringValue }).sorted()
    let fields = IdSet(lacking.map(\.field)).sorted(), className = target.target.className
    let found = try await exchange.objects(ids, in: className, keys: fields, chunk: Tuning.presenceIds)
    for (row, field) in lacking {
      guard let id = objects[row]["objectId"]?.stringValue, let value = found[id]?[field] else { continue }
      objects[row][field] = value
    }
  }
}
