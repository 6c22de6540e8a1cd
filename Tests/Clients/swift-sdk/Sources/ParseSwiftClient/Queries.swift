import Foundation
import ParseSwift

/// Around Rome, in degrees.
private let square: [(Double, Double)] = [(40, 10), (40, 15), (45, 15), (45, 10)]

/// Conditions, shapes of answers, and relations.
func checkQueries(_ checks: inout Checks) async {
  await checks.check("conditions") {
    var books: [Book] = []
    for (index, title) in ["alpha", "beta", "gamma", "delta"].enumerated() {
      var book = Book(title, 2_000 + index)
      book.tags = index < 2 ? ["x", "n\(index)"] : ["y"]
      if index == 3 { book.rating = 3 }
      books.append(book)
    }
    let saved = try await books.saveAll().values()
    let ids = saved.compactMap(\.objectId)
    let these = containedIn(key: "objectId", array: ids)
    func titles(_ constraints: QueryConstraint..., line: Int = #line) async throws -> [String] {
      try await Book.query([these] + constraints).order([.ascending("year")]).find().compactMap(\.title)
    }
    try expect(try await titles("title" == "beta"), ["beta"], "==")
    try expect(try await titles(equalToNoComparator(key: "title", value: "beta")), ["beta"], "equality")
    try expect(try await titles("year" > 2_001), ["gamma", "delta"], ">")
    try expect(try await titles("year" >= 2_001, "year" < 2_003), ["beta", "gamma"], ">= and <")
    try expect(try await titles("year" <= 2_000), ["alpha"], "<=")
    try expect(try await titles("title" != "beta"), ["alpha", "gamma", "delta"], "!=")
    try expect(try await titles(notContainedIn(key: "title", array: ["beta", "delta"])), ["alpha", "gamma"], "$nin")
    try expect(try await titles(containsAll(key: "tags", array: ["x", "n1"])), ["beta"], "$all")
    try expect(try await titles(containedBy(key: "tags", array: ["y", "z"])), ["gamma", "delta"], "$containedBy")
    try expect(try await titles(exists(key: "rating")), ["delta"], "exists")
    try expect(try await titles(doesNotExist(key: "rating")), ["alpha", "beta", "gamma"], "doesNotExist")
    try expect(try await titles(isNotNull(key: "rating")), ["delta"], "isNotNull")
    try expect(try await titles(isNull(key: "rating")), ["alpha", "beta", "gamma"], "isNull")
    try expect(try await titles(matchesRegex(key: "title", regex: "^[AB]", modifiers: "i")), ["alpha", "beta"], "regex")
    try expect(try await titles(hasPrefix(key: "title", prefix: "al")), ["alpha"], "prefix")
    try expect(try await titles(hasSuffix(key: "title", suffix: "mma")), ["gamma"], "suffix")
    try expect(try await titles(containsString(key: "title", substring: "et")), ["beta"], "substring")
    try expect(
      try await titles(or(queries: Book.query("year" == 2_000), Book.query("year" == 2_003))), ["alpha", "delta"], "$or")
    try expect(
      try await titles(nor(queries: Book.query("year" == 2_000), Book.query("year" == 2_003))), ["beta", "gamma"], "$nor")
    try expect(try await titles(and(queries: Book.query("year" > 2_000), Book.query("tags" == "x"))), ["beta"], "$and")
    let newest = saved.compactMap(\.createdAt).max() ?? .distantPast
    try expect(try await titles("createdAt" < newest), ["alpha", "beta", "gamma"], "dates")
  }

  await checks.check("sub-queries and pointers") {
    let one = try await Isbn("sub-1").save(), two = try await Isbn("sub-2").save()
    var a = Book("sub a"), b = Book("sub b")
    (a.isbn, b.isbn) = (one, two)
    a = try await a.save()
    b = try await b.save()
    try expect(try await Book.query("isbn" == Isbn.query("value" == "sub-1")).find().compactMap(\.title), ["sub a"], "$inQuery")
    let mine = containedIn(key: "objectId", array: [a.objectId!, b.objectId!])
    try expect(
      try await Book.query(mine, "isbn" != Isbn.query("value" == "sub-1")).find().compactMap(\.title), ["sub b"], "$notInQuery")
    try expect(try await Book.query(try "isbn" == two).find().compactMap(\.title), ["sub b"], "pointer with $eq")
    try expect(
      try await Book.query(try equalToNoComparator(key: "isbn", object: two)).find().compactMap(\.title), ["sub b"], "pointer")
    try expect(try await Book.query(mine, try "isbn" != two).find().compactMap(\.title), ["sub a"], "pointer with $ne")
    _ = try await Author("sub a").save()
    let selected = Book.query(matchesKeyInQuery(key: "title", queryKey: "name", query: Author.query("name" == "sub a")))
    try expect(try await selected.find().compactMap(\.objectId), [a.objectId!], "$select")
    let others = Book.query(mine, doesNotMatchKeyInQuery(key: "title", queryKey: "name", query: Author.query("name" == "sub a")))
    try expect(try await others.find().compactMap(\.objectId), [b.objectId!], "$dontSelect")
  }

  await checks.check("shape of answers: order, limit, skip, keys, exclude, count, first, findAll") {
    let rows = try await (0..<30).map { Book("shape", $0) }.saveAll().values()
    try expect(rows.count, 30, "rows")
    let query = Book.query("title" == "shape")
    let page = try await query.order([.descending("year")]).limit(3).skip(2).find()
    try expect(page.compactMap(\.year), [27, 26, 25], "order, limit, skip")
    try expect(try await query.count(), 30, "count")
    let (found, count) = try await query.limit(5).withCount()
    try expect([found.count, count], [5, 30], "withCount")
    let selected = try await query.select("year").first()
    try expect(selected.title, nil, "a column that was not selected")
    try expect(selected.year != nil, true, "the selected column")
    try expect(try await query.exclude("year").first().year, nil, "an excluded column")
    try expect(try await query.findAll(batchLimit: 7).count, 30, "findAll")
    try await refusal(.objectNotFound) { try await Book.query("title" == "none at all").first() }
    try expect(try await Book.query("title" == "none at all").find().count, 0, "nothing found")
  }

  await checks.check("geo queries") {
    for (title, latitude, longitude) in [("Rome", 41.9, 12.5), ("Paris", 48.85, 2.35), ("Lille", 50.63, 3.06)] {
      var book = Book(title)
      book.place = try ParseGeoPoint(latitude: latitude, longitude: longitude)
      if title == "Rome" {
        book.area = try ParsePolygon(try square.map { try ParseGeoPoint(latitude: $0.0, longitude: $0.1) })
      }
      _ = try await book.save()
    }
    let here = try ParseGeoPoint(latitude: 50.6, longitude: 3)
    let cities = containedIn(key: "title", array: ["Rome", "Paris", "Lille"])
    func titles(_ constraints: [QueryConstraint]) async throws -> [String] {
      try await Book.query([cities] + constraints).find().compactMap(\.title)
    }
    try expect(try await titles([near(key: "place", geoPoint: here)]), ["Lille", "Paris", "Rome"], "near")
    try expect(try await titles(withinKilometers(key: "place", geoPoint: here, distance: 50)), ["Lille"], "kilometers")
    try expect(try await titles(withinMiles(key: "place", geoPoint: here, distance: 200)), ["Lille", "Paris"], "miles")
    let low = try ParseGeoPoint(latitude: 40, longitude: 0), high = try ParseGeoPoint(latitude: 49, longitude: 13)
    try expect(
      try await titles([withinGeoBox(key: "place", fromSouthWest: low, toNortheast: high)]).sorted(), ["Paris", "Rome"], "box")
    let points = try square.map { try ParseGeoPoint(latitude: $0.0, longitude: $0.1) }
    try expect(try await titles([geoPoint("place", within: points)]), ["Rome"], "points")
    try expect(try await titles([geoPoint("place", within: try ParsePolygon(points))]), ["Rome"], "polygon")
    try expect(
      try await titles([polygon("area", contains: try ParseGeoPoint(latitude: 42, longitude: 12))]), ["Rome"], "contains")
  }

  await checks.check("relations") {
    let book = try await Book("Relations").save()
    let authors = try await ["a", "b", "c"].map { Author("rel " + $0) }.saveAll().values()
    let relation = try book.relation("authors", child: authors[0])
    _ = try await relation.add(authors).save()
    func names() async throws -> [String] {
      try await Author.queryRelations("authors", parent: book).find().compactMap(\.name).sorted()
    }
    try expect(try await names(), ["rel a", "rel b", "rel c"], "after add")
    _ = try await relation.remove([authors[1]]).save()
    try expect(try await names(), ["rel a", "rel c"], "after remove")
    _ = try await relation.add([authors[0]]).save()
    try expect(try await names(), ["rel a", "rel c"], "a link is not doubled")
    let owners = Book.query(try equalToNoComparator(key: "authors", object: authors[0]))
    try expect(try await owners.find().compactMap(\.objectId), [book.objectId!], "the owners of a target")
    try expect(try await Book.query(try "authors" == authors[0]).find().count, 0, "$eq on a relation finds nothing")
    let fetched = try await Book(objectId: book.objectId!).fetch()
    let stored = try book.relation(fetched.authors, key: "authors")
    _ = try await stored.remove([authors[0]]).save()
    try expect(try await names(), ["rel c"], "through the fetched marker")
    var whole = fetched
    whole.title = "Sent back whole"
    _ = try await whole.save()
    try expect(try await names(), ["rel c"], "the marker sent back changes nothing")
  }

  await checks.check("refused queries") {
    try await refusal(.operationForbidden) { try await Installation.query().find() }
    try await refusal(.invalidQuery) { try await Book.query(matchesRegex(key: "title", regex: "a", modifiers: "q")).find() }
    try await refusal(.invalidKeyName) { try await Book.query("a b" == 1).find() }
  }
}
