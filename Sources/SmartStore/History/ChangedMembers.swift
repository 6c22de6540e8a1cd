import Glibc
import RecordScan

/// The first-level members in which two texts of an entry differ.
package struct ChangedMembers {
  package private(set) var names: [String] = []
  /// Whether the new text is marked as deleted locally and the old one is not.
  package private(set) var isDeletion = false

  /// Compares by bytes: a value that is only spelled differently counts as changed. Members of the store and the flags are
  /// left out.
  package init(from old: UnsafeRawBufferPointer, to new: UnsafeRawBufferPointer) {
    var former = MemberList(old), later = MemberList(new)
    // Usually both have the same members in the same order.
    var others: [Member] = [], added: [Member] = []
    while true {
      let a = former.next()
      // Most members are as they were, and are then read in one of the texts alone.
      if a != nil, later.skip(like: former) { continue }
      let b = later.next()
      guard a != nil || b != nil else { break }
      if let a, let b, a.hasSameKey(as: b) {
        if !a.hasSameValue(as: b) { note(b) }
      } else {
        if let a { others.append(a) }
        if let b { added.append(b) }
      }
    }
    for member in added {
      if let i = others.firstIndex(where: { $0.hasSameKey(as: member) }) {
        if !others.remove(at: i).hasSameValue(as: member) { note(member) }
      } else {
        note(member)
      }
    }
    for member in others { note(member, isGone: true) }
  }

  private mutating func note(_ member: Member, isGone: Bool = false) {
    guard !member.isOwn else {
      if !isGone, member.key.elementsEqual(SoupField.locallyDeleted.utf8), member.value.elementsEqual("true".utf8) {
        isDeletion = true
      }
      return
    }
    names.append(member.name)
  }
}

/// A member of an object, as its text has it.
private struct Member {
  let key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer

  func hasSameKey(as other: Member) -> Bool { Member.areSame(key, other.key) }
  func hasSameValue(as other: Member) -> Bool { Member.areSame(value, other.value) }

  private static func areSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count, let x = a.baseAddress, let y = b.baseAddress else { return a.count == b.count }
    return memcmp(x, y, a.count) == 0
  }

  /// Whether it belongs to the store or the engine.
  var isOwn: Bool {
    guard key.count > 4, key[0] == UInt8(ascii: "_") else { return false }
    if key[1] == UInt8(ascii: "_") { return key[key.count - 1] == UInt8(ascii: "_") && key[key.count - 2] == UInt8(ascii: "_") }
    return key.starts(with: SoupField.storePrefix.utf8)
  }

  var name: String {
    guard key.contains(UInt8(ascii: "\\")) else { return String(decoding: key, as: UTF8.self) }
    var out: [UInt8] = []
    JSONStringContents.append(key.bindMemory(to: UInt8.self), to: &out)
    return String(decoding: out, as: UTF8.self)
  }
}

/// Reads the members of an object one by one. Ends early at a text that is not one.
private struct MemberList {
  private var walker: JSONWalker
  private let bytes: UnsafeRawBufferPointer
  private var isFirst = true, hasEnded = false
  /// The last member, with what separates it from the one before.
  private var last = 0..<0
  private var wasFirst = true

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    walker = JSONWalker(bytes)
    walker.skipWhitespace()
    hasEnded = (try? walker.expect(UInt8(ascii: "{"), "")) == nil
  }

  /// Skips a member that has the same bytes as the last one of another list.
  mutating func skip(like other: MemberList) -> Bool {
    // The byte that follows ends both: a number may go on otherwise.
    let count = other.last.count, start = walker.offset
    guard !hasEnded, isFirst == other.wasFirst, start + count < bytes.count, other.last.upperBound < other.bytes.count,
      let mine = bytes.baseAddress, let theirs = other.bytes.baseAddress,
      memcmp(mine + start, theirs + other.last.lowerBound, count + 1) == 0
    else { return false }
    walker.p += count
    isFirst = false
    return true
  }

  mutating func next() -> Member? {
    guard !hasEnded else { return nil }
    let from = walker.offset
    wasFirst = isFirst
    do throws(ScanError) {
      walker.skipWhitespace()
      guard walker.p < walker.end, walker.p.pointee != UInt8(ascii: "}") else {
        hasEnded = true
        return nil
      }
      if !isFirst {
        try walker.expect(UInt8(ascii: ","), "")
        walker.skipWhitespace()
      }
      isFirst = false
      let key = try walker.key()
      walker.skipWhitespace()
      let start = walker.offset
      _ = try walker.skipValue(depth: 1)
      last = from..<walker.offset
      return Member(
        key: UnsafeRawBufferPointer(key.raw), value: UnsafeRawBufferPointer(rebasing: bytes[start..<walker.offset]))
    } catch {
      hasEnded = true
      return nil
    }
  }
}
