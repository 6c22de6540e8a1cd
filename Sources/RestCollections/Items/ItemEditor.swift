import JSON
import RecordScan

/// Removes and adds members of items directly in their bytes. Untouched members keep their
/// spelling.
struct ItemEditor: Sendable {
  private let omitted: [Node]
  private let map: [ItemRules.Mapping]

  private struct Node: Sendable {
    let key: [UInt8]
    /// Empty if the whole member is removed.
    var children: [Node]
  }

  init(_ rules: ItemRules) {
    var omitted: [Node] = []
    for keys in rules.omit { ItemEditor.insert(keys[...], into: &omitted) }
    self.omitted = omitted
    map = rules.map
  }

  private static func insert(_ keys: ArraySlice<[UInt8]>, into nodes: inout [Node]) {
    guard let key = keys.first else { return }
    let rest = keys.dropFirst()
    guard let i = nodes.firstIndex(where: { $0.key == key }) else {
      var node = Node(key: key, children: [])
      insert(rest, into: &node.children)
      nodes.append(node)
      return
    }
    // The shorter of two paths removes more.
    if rest.isEmpty { nodes[i].children = [] } else if !nodes[i].children.isEmpty { insert(rest, into: &nodes[i].children) }
  }

  var changesNothing: Bool { omitted.isEmpty && map.isEmpty }

  /// Returns the item to store; nil if nothing changes.
  ///
  /// - Parameter id: A numeric id that becomes text.
  func edited(
    _ item: ScannedValue, quoting id: NumericId?, in bytes: UnsafeRawBufferPointer
  ) throws(ScanError) -> [UInt8]? {
    var added: [(name: [UInt8], text: [UInt8])] = [], replaced: [Node] = []
    for mapping in map {
      var text: [UInt8] = []
      guard try mapping.source.appendJSON(from: item, in: bytes, to: &text) else { continue }
      added.append((Array(mapping.name.utf8), text))
      replaced.append(Node(key: Array(mapping.name.utf8), children: []))
      if let renamed = mapping.renamed { replaced.append(Node(key: Array(renamed.utf8), children: [])) }
    }
    var out: [UInt8] = []
    out.reserveCapacity(item.count + 64)
    var isChanged = !added.isEmpty
    out.append(UInt8(ascii: "{"))
    try copyMembers(of: item, without: omitted + replaced, quoting: id, in: bytes, to: &out, &isChanged)
    guard isChanged else { return nil }
    for member in added {
      if out.count > 1 { out.append(UInt8(ascii: ",")) }
      JSONText.appendQuoted(String(decoding: member.name, as: UTF8.self), to: &out)
      out.append(UInt8(ascii: ":"))
      out.append(contentsOf: member.text)
    }
    out.append(UInt8(ascii: "}"))
    return out
  }

  private func copyMembers(
    of object: ScannedValue, without nodes: [Node], quoting id: NumericId?, in bytes: UnsafeRawBufferPointer,
    to out: inout [UInt8], _ isChanged: inout Bool
  ) throws(ScanError) {
    var isFirst = true
    try object.forEachMember(in: bytes) { (key, start, value) throws(ScanError) in
      let node = nodes.first { key == $0.key }
      if let node, node.children.isEmpty {
        isChanged = true
        return
      }
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      guard let node, value.kind == .object else {
        out.append(bytes, start..<value.end, quoting: id)
        return
      }
      out.append(contentsOf: bytes[start..<value.start])
      out.append(UInt8(ascii: "{"))
      try copyMembers(of: value, without: node.children, quoting: id, in: bytes, to: &out, &isChanged)
      out.append(UInt8(ascii: "}"))
    }
  }
}

extension ScannedValue {
  /// The offset after the value, including the closing quote of a string.
  var end: Int { start + count + (kind == .plainString || kind == .escapedString ? 1 : 0) }
}
