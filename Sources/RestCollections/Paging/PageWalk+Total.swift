extension PageWalk {
  /// The number of items in the whole list, as far as known; otherwise -1.
  var totalSize: Int64 { state.largestTotal ?? state.estimate ?? -1 }

  /// Estimates the total from the number of the last page in the first page's `Link` header: an
  /// upper bound.
  func estimatedTotal(_ page: CollectionPage) -> Int64? {
    guard target.paging.style == .link, page.facts.total == nil, page.itemCount > 0 else { return nil }
    let header = LinkHeader(page.answer.values(of: "Link"))
    guard let next = header.target(of: target.paging.relation, responseURL: page.answer.url) else { return Int64(page.itemCount) }
    guard let last = header.target(of: "last", responseURL: page.answer.url) else { return nil }
    let size = Int64(page.itemCount)
    for pair in URLQuery.pairs(of: last) {
      guard let number = Int64(pair.value), let second = URLQuery.value(of: pair.name, in: next).flatMap({ Int64($0) }),
        URLQuery.value(of: pair.name, in: state.first.url) != pair.value, (0..<(1 << 40)).contains(number),
        (0...number).contains(second)
      else { continue }
      // Page numbers start at 0 or 1; offsets are multiples of the page size.
      if second <= 2 { return (number - second + 2) * size }
      if second == size { return number + size }
    }
    return nil
  }
}
