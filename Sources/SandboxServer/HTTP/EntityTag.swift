/// Names for contents: the same bytes have the same tag.
package enum EntityTag {
  package static func of(_ bytes: [UInt8]) -> String {
    // FNV-1a, 64 bits: not against forgery, only to tell versions apart.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return "\"" + String(hash, radix: 36) + "\""
  }
}
