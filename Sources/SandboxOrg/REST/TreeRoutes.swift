import Database
import JSON
import RecordScan

/// Serves `/composite/tree/<type>`: records with their children in one body, all or none of which
/// are created.
enum TreeRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("POST", "/composite/tree/:type", create)
  }

  private static func create(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    guard let roots = try call.jsonObject()["records"]?.arrayValue, !roots.isEmpty else {
      throw SandboxError.json("the body needs the array 'records'")
    }
    let nodes = try TreeReader(schema: call.org.schema).nodes(roots, of: object)
    let duplicates = duplicates(nodes)
    guard duplicates.isEmpty else { return refused(duplicates) }
    return try TreeRun(call: call).run(nodes)
  }

  private static func duplicates(_ nodes: [TreeNode]) -> [(String, SandboxError)] {
    var counts: [String: Int] = [:]
    for node in nodes { counts[node.referenceId, default: 0] += 1 }
    let error = SandboxError(
      status: 400, code: "INVALID_INPUT", message: "Duplicate ReferenceId provided in the request.", fields: [])
    return nodes.filter { counts[$0.referenceId, default: 0] > 1 }.map { ($0.referenceId, error) }
  }

  static func refused(_ failures: [(id: String, error: SandboxError)]) -> ServerReply {
    let results = failures.map { JSONValue.object(["referenceId": .string($0.id), "errors": $0.error.itemErrors]) }
    return .json(400, .object(["hasErrors": true, "results": .array(results)]))
  }
}

/// A record of a tree.
struct TreeNode {
  let object: ObjectSchema
  let referenceId: String
  let fields: JSONObject
  /// The index of its parent in the list, and the field that refers to it.
  let parent: (index: Int, field: String)?
  /// The path to the record in the body.
  let path: [PathStep]
}

/// Converts a tree to a list: all roots first, then the next level.
struct TreeReader {
  let schema: OrgSchema

  func nodes(_ roots: [JSONValue], of object: ObjectSchema) throws(SandboxError) -> [TreeNode] {
    var nodes: [TreeNode] = []
    typealias Waiting = (value: JSONValue, object: ObjectSchema, parent: (index: Int, field: String)?, path: [PathStep])
    var waiting: [Waiting] = roots.enumerated().map { ($1, object, nil, [.member("records"), .element($0)]) }
    var next = 0
    while next < waiting.count {
      let (value, object, parent, path) = waiting[next]
      next += 1
      guard waiting.count <= Tuning.treeRecords else {
        throw SandboxError(
          status: 400, code: "EXCEEDED_ID_LIMIT",
          message: "record limit reached. cannot submit more than \(Tuning.treeRecords) records into this call")
      }
      // The path to a root has two steps, and three more for each further level.
      guard (path.count + 1) / 3 <= Tuning.treeLevels else {
        throw .invalidInput("a tree has at most \(Tuning.treeLevels) levels")
      }
      var fields = try record(value, object)
      for (key, member) in fields {
        guard let link = child(key, of: object), let list = member["records"]?.arrayValue else { continue }
        fields[key] = nil
        for (i, child) in list.enumerated() {
          let place: [PathStep] = [.member(key), .member("records"), .element(i)]
          waiting.append((child, link.child, (nodes.count, link.field.name), path + place))
        }
      }
      let id = value["attributes"]?["referenceId"]?.stringValue ?? ""
      nodes.append(TreeNode(object: object, referenceId: id, fields: fields, parent: parent, path: path))
    }
    guard Set(nodes.map(\.object.name)).count <= Tuning.treeTypes else {
      throw .invalidInput("a tree has records of at most \(Tuning.treeTypes) types")
    }
    return nodes
  }

  private func record(_ value: JSONValue, _ object: ObjectSchema) throws(SandboxError) -> JSONObject {
    guard let record = value.objectValue else { throw .json("Cannot deserialize a record from \(value.kindName)") }
    guard let type = record["attributes"]?["type"]?.stringValue, schema.object(type)?.name == object.name else {
      let type = record["attributes"]?["type"]?.stringValue
      throw .invalidInput("expected a record of type \(object.name) but got one of type '\(type ?? "null")'")
    }
    guard record["attributes"]?["referenceId"]?.stringValue?.isEmpty == false else {
      throw .invalidInput("every record needs a 'referenceId' in its 'attributes'")
    }
    return record
  }

  private func child(_ name: String, of object: ObjectSchema) -> (child: ObjectSchema, field: FieldSchema)? {
    schema.references(to: object.name).first { $0.field.childRelationshipName?.lowercased() == name.lowercased() }
  }
}

/// Creates the records of a tree, parents before children.
struct TreeRun {
  private struct Failed: Error {}

  let call: Call

  func run(_ nodes: [TreeNode]) throws -> ServerReply {
    var ids: [String?] = []
    var failures: [(id: String, error: SandboxError)] = []
    do {
      try call.org.transaction {
        for (index, node) in nodes.enumerated() {
          do {
            ids.append(try call.org.item(index) { try call.addingErrorPositions(at: node.path) { try create(node, ids) } })
          } catch let error as SandboxError {
            ids.append(nil)
            failures.append((node.referenceId, error))
          }
        }
        if !failures.isEmpty { throw Failed() }
      }
    } catch is Failed {
      return TreeRoutes.refused(failures)
    }
    let results = zip(nodes, ids).map { node, id in
      JSONValue.object(["referenceId": .string(node.referenceId), "id": id.map { .string($0) } ?? .null])
    }
    return .json(201, .object(["hasErrors": false, "results": .array(results)]))
  }

  /// - Returns: nil if the parent failed; this is not an error of the child.
  private func create(_ node: TreeNode, _ ids: [String?]) throws -> String? {
    var fields = node.fields
    if let parent = node.parent {
      guard let id = ids[parent.index] else { return nil }
      for key in fields.keys where key.lowercased() == parent.field.lowercased() { fields[key] = nil }
      fields[parent.field] = .string(id)
    }
    return try call.org.transaction { try call.writer.create(node.object, fields) }
  }
}
