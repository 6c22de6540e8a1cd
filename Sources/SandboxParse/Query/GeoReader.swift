import Glibc
import JSON

/// Reads geographic constraints.
struct GeoReader {
  /// All constraints of the column; distance limits are separate from their point.
  let given: JSONObject

  /// - Returns: nil for a distance limit, which is read with its point.
  /// - Throws: ``ParseError`` 107 for an invalid value or an unknown constraint.
  func test(_ name: String, _ value: JSONValue) throws(ParseError) -> Test? {
    switch name {
    case "$nearSphere":
      guard let point = GeoPoint(value) else { throw ParseError(.invalidJSON, "bad $nearSphere value") }
      return .near(point, limit: try limit())
    case "$maxDistance", "$maxDistanceInRadians", "$maxDistanceInKilometers", "$maxDistanceInMiles":
      guard value.doubleValue != nil, given["$nearSphere"] != nil else {
        throw ParseError(.invalidJSON, "bad \(name) value")
      }
      return nil
    case "$within":
      guard let box = value["$box"]?.arrayValue, box.count == 2, let low = GeoPoint(box[0]), let high = GeoPoint(box[1]) else {
        throw ParseError(.invalidJSON, "malformatted $within arg")
      }
      return .inside(.box(low, high))
    case "$geoWithin": return .inside(try area(value))
    case "$geoIntersects":
      guard let point = GeoPoint(value["$point"]) else {
        throw ParseError(.invalidJSON, "bad $geoIntersect value; $point should be GeoPoint")
      }
      return .covers(try checked(point))
    default: throw ParseError(.invalidJSON, "bad constraint: \(name)")
    }
  }

  /// Returns the distance limit in radians.
  private func limit() throws(ParseError) -> Double? {
    if let radians = (given["$maxDistance"] ?? given["$maxDistanceInRadians"])?.doubleValue { return radians }
    if let kilometers = given["$maxDistanceInKilometers"]?.doubleValue { return kilometers / Tuning.earthKilometers }
    return given["$maxDistanceInMiles"]?.doubleValue.map { $0 / Tuning.earthMiles }
  }

  private func area(_ value: JSONValue) throws(ParseError) -> GeoArea {
    if let circle = value["$centerSphere"] {
      guard let pair = circle.arrayValue, pair.count == 2, let center = place(pair[0]), let radians = pair[1].doubleValue,
        radians >= 0
      else {
        throw ParseError(.invalidJSON, "bad $geoWithin value; $centerSphere should be an array of Parse.GeoPoint and distance")
      }
      return .circle(center, radians: radians)
    }
    guard let polygon = value["$polygon"] else { throw ParseError(.invalidJSON, "bad $geoWithin value") }
    let list = polygon["__type"] == "Polygon" ? polygon["coordinates"]?.arrayValue : polygon.arrayValue
    guard let list, list.count >= 3 else {
      throw ParseError(.invalidJSON, "bad $geoWithin value; $polygon should contain at least 3 GeoPoints")
    }
    var corners: [GeoPoint] = []
    for item in list {
      guard let corner = place(item) else { throw ParseError(.invalidJSON, "bad $geoWithin value") }
      corners.append(try checked(corner))
    }
    return .polygon(corners)
  }

  /// Checks the range of a constraint's point. Stored points are not checked.
  private func checked(_ point: GeoPoint) throws(ParseError) -> GeoPoint {
    guard abs(point.latitude) <= 90, abs(point.longitude) <= 180 else {
      throw ParseError(.internalServerError, "The GeoPoint of a constraint lies out of bounds.")
    }
    return point
  }

  /// Reads a point, or a pair of longitude and latitude.
  private func place(_ value: JSONValue) -> GeoPoint? {
    if let pair = value.arrayValue, pair.count == 2, let longitude = pair[0].doubleValue, let latitude = pair[1].doubleValue {
      return GeoPoint(latitude: latitude, longitude: longitude)
    }
    return GeoPoint(value)
  }
}
