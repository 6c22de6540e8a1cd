/// Computes entity tags: the same bytes give the same tag.
package enum EntityTag {
  package static func of(_ bytes: [UInt8]) -> String {
    // FNV-1a, 64 bits. It tells versions apart; it does not protect against forgery.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return "\"" + String(hash, radix: 36) + "\""
  }
}
