import JSON

/// Serves the list of resources and the limits.
enum LimitRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("GET", "", resources)
    table.data("GET", "/limits", limits)
  }

  private static func resources(_ call: Call) -> ServerReply {
    var list = JSONObject()
    for name in ["sobjects", "query", "queryAll", "search", "parameterizedSearch", "recent", "limits", "composite"] {
      list[name] = .string("\(call.dataRoot)/\(name)")
    }
    for name in ["connect", "chatter", "jobs"] { list[name] = .string("\(call.dataRoot)/\(name)") }
    list["identity"] = .string("\(call.origin)/id/\(call.org.organizationId)/\(call.userId)")
    return .json(200, .object(list))
  }

  private static func limits(_ call: Call) throws -> ServerReply {
    var list = JSONObject()
    let queryJobs = try BulkStore(call.org.connection).count(.query, since: call.org.configuration.clock.now() - 86_400)
    let calls = call.org.calls
    for (name, standard) in allocations {
      let maximum = name == "DailyApiRequests" ? calls.limit : standard
      let used =
        name == "DailyApiRequests"
        ? calls.used(at: call.org.configuration.clock.now()) : name == "DailyBulkV2QueryJobs" ? queryJobs : 0
      list[name] = .object(["Max": .integer(Int64(maximum)), "Remaining": .integer(Int64(max(0, maximum - used)))])
    }
    return .json(200, .object(list))
  }

  /// The allocations of a Developer Edition, in the order of the resource.
  private static let allocations: [(name: String, maximum: Int)] = [
    ("ActiveScratchOrgs", 3), ("AnalyticsExternalDataSizeMB", 40_960), ("ConcurrentAsyncGetReportInstances", 200),
    ("ConcurrentSyncReportRuns", 20), ("DailyAnalyticsDataflowJobExecutions", 60),
    ("DailyApiRequests", 0), ("DailyAsyncApexExecutions", 250_000), ("DailyBulkApiBatches", 15_000),
    ("DailyBulkV2QueryFileStorageMB", 976_562), ("DailyBulkV2QueryJobs", 10_000), ("DailyDeliveredPlatformEvents", 10_000),
    ("DailyDurableGenericStreamingApiEvents", 10_000), ("DailyDurableStreamingApiEvents", 10_000),
    ("DailyGenericStreamingApiEvents", 10_000), ("DailyScratchOrgs", 6), ("DailyStandardVolumePlatformEvents", 10_000),
    ("DailyStreamingApiEvents", 10_000), ("DailyWorkflowEmails", 100), ("DataStorageMB", 5),
    ("DurableStreamingApiConcurrentClients", 20), ("FileStorageMB", 20), ("HourlyAsyncReportRuns", 1_200),
    ("HourlyDashboardRefreshes", 200), ("HourlyDashboardResults", 5_000), ("HourlyDashboardStatuses", 999_999_999),
    ("HourlyODataCallout", 1_000), ("HourlyPublishedPlatformEvents", 50_000), ("HourlySyncReportRuns", 500),
    ("HourlyTimeBasedWorkflow", 50), ("MassEmail", 10), ("Package2VersionCreates", 6), ("PermissionSets", 1_500),
    ("SingleEmail", 15), ("StreamingApiConcurrentClients", 20),
  ]
}
