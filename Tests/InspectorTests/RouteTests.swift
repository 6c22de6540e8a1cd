import LuaBridge
import Testing

@testable import Inspector

/// Addresses and what they ask for.
@Suite struct RouteTests {
  private static let user = StoreReference(name: "defaultStore")

  @Test(arguments: [
    ("/api/v1/overview", Route.overview), ("/api/v1/events", .events), ("/api/v1/stores/u:defaultStore/unsent", .unsent(user)),
    ("/api/v1/stores/g:a%2Fb/conflicts", .conflicts(StoreReference(name: "a/b", isGlobal: true))),
    ("/api/v1/stores/u:defaultStore/conflicts/a%20b/7", .conflict(user, soup: "a b", entry: 7)),
    ("/api/v1/stores/u:defaultStore/conflicts/c/7/resolve", .resolve(user, soup: "c", entry: 7)),
    ("/api/v1/stores/u:defaultStore/soups/c%2Fd/entries/12", .entry(user, soup: "c/d", entry: 12)),
    ("/api/v1/stores/u:defaultStore/soups/c/entries/12/explain", .explain(user, soup: "c", entry: 12)),
    ("/api/v1/stores/u:defaultStore/syncs/3/run", .runSync(user, id: 3)),
    ("/api/v1/stores/u:defaultStore/runs/9", .run(user, number: 9)),
  ])
  func route_ofAnAddress_isFound(path: String, route: Route) { #expect(Route(path[...]) == route) }

  @Test(arguments: [
    "/api/v1/", "/api/v1/overview/", "/api/v2/overview", "/api/v1/stores", "/api/v1/stores/u:/unsent",
    "/api/v1/stores/x:a/unsent",
    "/api/v1/stores/a/unsent", "/api/v1/stores/u:a/unsent/1", "/api/v1/stores/u:a/conflicts/c",
    "/api/v1/stores/u:a/conflicts/c/x",
    "/api/v1/stores/u:a//unsent", "/api/v1/stores/u:%ff/unsent", "/api/v1/stores/u:a/runs/99999999999999999999",
    "/api/v1/../overview",
  ])
  func route_ofAnotherAddress_isNone(path: String) { #expect(Route(path[...]) == nil) }

  @Test func parameters_areDecodedAndBounded() {
    let parameters = Parameters("limit=99999&after=-3&soup=a%26b&state=")
    #expect(
      parameters.limit == Limits.rows && parameters.after == 0 && parameters.text("soup") == "a&b"
        && parameters.text("state") == nil)
    #expect(Parameters("").limit == 200)
  }
}
